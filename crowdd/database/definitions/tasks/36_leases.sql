-- Renewing, ending and releasing leases. Granting is in 30_assignment.sql.

-- The end of a lease, once it is prolonged: a lease time from now, but no more than six lease times after it was granted. The
-- one place that says so.
CREATE FUNCTION prolonged(p_granted timestamptz, p_expires timestamptz, p_lease interval, p_now timestamptz) RETURNS timestamptz IMMUTABLE LANGUAGE sql AS $$
SELECT greatest(p_expires, least(p_now + p_lease, p_granted + 6 * p_lease)) $$;

-- Ends a lease that expires by p_before: it becomes the right to answer late, ending at p_ends (null: when it expired), and its
-- place is free. The caller holds the ledger row. False: there is none.
CREATE FUNCTION end_lease(p_project bigint, p_actor text, p_task bigint, p_before timestamptz, p_ends timestamptz, p_skip boolean, p_now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    WITH gone AS (DELETE FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task AND expires <= p_before RETURNING *)
    INSERT INTO expired_lease SELECT project_id, actor, task_id, granted, coalesce(p_ends, expires), p_skip FROM gone;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE task_ledger SET leases = leases - 1 WHERE project_id = p_project AND task_id = p_task;
    PERFORM reconcile_task(p_project, p_task, false, p_now);
    RETURN true;
END $$;

-- Takes lapsed leases back, at most 20 per request, leaving alone what another request is busy with. Returns the rows locked.
CREATE FUNCTION expire_leases(p_project bigint, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; n int := 0; placeless_ int;
BEGIN
    FOR r IN SELECT task_id, actor FROM lease WHERE -project_id = -p_project AND expires <= p_now ORDER BY expires LIMIT 20 LOOP
        PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        n := n + 1;
        PERFORM end_lease(p_project, r.actor, r.task_id, p_now, NULL, false, p_now);        -- unless a neighbour was faster
    END LOOP;
    UPDATE expired_lease SET placeless = false WHERE (project_id, actor, task_id) IN (
        SELECT project_id, actor, task_id FROM expired_lease WHERE project_id = p_project AND placeless AND expires <= p_now LIMIT 20 FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS placeless_ = ROW_COUNT;
    RETURN n + placeless_;
END $$;

-- The lease time of a project: info.lease_seconds, or an hour.
CREATE FUNCTION lease_of(p_info jsonb) RETURNS interval IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN jsonb_typeof(p_info->'lease_seconds') = 'number'
            THEN make_interval(secs => least(greatest((p_info->>'lease_seconds')::float8, 60), 604800)) ELSE interval '1 hour' END $$;

-- Extends a lease by one lease time, up to six lease times after it was granted, so that an abandoned page does not
-- hold a task for ever. A volunteer who has lost the lease gets another one if a place is free. ends: when the lease
-- ends. state: leased; late (an answer is stored, and may not count); answered; none (never leased, or skipped);
-- paused; no task; and the results of access_refusal.
CREATE FUNCTION renew_task(p_project bigint, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[], p_task bigint, p_now timestamptz,
                           p_network text DEFAULT '', OUT state text, OUT ends timestamptz) LANGUAGE plpgsql AS $$
DECLARE p project_ledger; actors text[];
BEGIN
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project;
    state := access_refusal(p, p_actor, p_user, p_admin, p_unlocked, p_network);
    IF state IS NOT NULL THEN RETURN; END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    actors := actors_of(p_project, p_actor);
    -- Code that expires leases checks again, once it has locked the row, whether this one has expired.
    UPDATE lease SET expires = prolonged(granted, expires, p.lease, p_now)
     WHERE project_id = p_project AND task_id = p_task AND actor = (
           SELECT actor FROM lease WHERE project_id = p_project AND actor = ANY (actors) AND task_id = p_task ORDER BY actor <> p_actor LIMIT 1)
    RETURNING expires INTO ends;
    IF ends IS NULL AND p.n_gold > 0 THEN ends := prolong_placeless(p, actors, p_task, false, p_now); END IF;
    IF ends IS NOT NULL THEN
        state := CASE WHEN ends > p_now THEN 'leased' ELSE 'late' END;
    ELSIF EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND actor = ANY (actors) AND task_id = p_task AND NOT skipped) THEN
        state := lease_task(p_project, p_actor, p_user, p_admin, p_unlocked, p_task, p_now, p_network);
        SELECT expires INTO ends FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task
         UNION ALL SELECT expires FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task AND placeless;
    ELSE
        state := CASE WHEN EXISTS (SELECT FROM task_run WHERE project_id = p_project AND actor = ANY (actors) AND task_id = p_task) THEN 'answered' ELSE 'none' END;
    END IF;
END $$;

-- Gives a lease back, as skipped or because the page closed, also one that they have as another of their actors, unless they have answered the
-- task themselves (I3). False: there was none. What another of them holds as no more than the right to answer late stays theirs: they may have
-- skipped it.
CREATE FUNCTION release_task(p_project bigint, p_actor text, p_task bigint, p_skip boolean, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE actors text[] := actors_of(p_project, p_actor);
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    IF cardinality(actors) > 1 AND NOT EXISTS (SELECT FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = p_actor)
       AND (EXISTS (SELECT FROM lease WHERE project_id = p_project AND task_id = p_task AND actor = ANY (actors))
            OR EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND task_id = p_task AND actor = ANY (actors) AND placeless)) THEN
        PERFORM adopt_lease(p_project, p_task, actors, p_now);
    END IF;
    IF end_lease(p_project, p_actor, p_task, 'infinity', p_now, p_skip, p_now) THEN RETURN true; END IF;
    UPDATE expired_lease SET placeless = false, skipped = p_skip, expires = p_now WHERE project_id = p_project AND actor = p_actor AND task_id = p_task AND placeless;
    RETURN FOUND;
END $$;

-- Releases tasks in one transaction, so that they return in their own order. With p_skip the volunteer gets them last,
-- including those whose lease they had already lost. Returns how many they held.
CREATE FUNCTION give_back(p_project bigint, p_actor text, p_tasks bigint[], p_skip boolean, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE t bigint; k int := 0;
BEGIN
    FOR t IN SELECT DISTINCT u FROM unnest(p_tasks) u ORDER BY u LOOP
        IF release_task(p_project, p_actor, t, p_skip, p_now) THEN k := k + 1; CONTINUE; END IF;
        UPDATE expired_lease SET skipped = true, expires = p_now
         WHERE project_id = p_project AND actor = p_actor AND task_id = t AND p_skip AND NOT skipped;
        k := k + FOUND::int;
    END LOOP;
    RETURN k;
END $$;

-- The number of unfinished tasks that others hold and that the volunteer could otherwise answer. Counts up to 100.
CREATE FUNCTION held_by_others(p_project bigint, p_actor text) RETURNS int STABLE LANGUAGE sql AS $$
SELECT least(100, count(DISTINCT l.task_id))::int
  FROM actors_of(p_project, p_actor) actors,
       LATERAL (SELECT task_id FROM lease WHERE -project_id = -p_project AND NOT actor = ANY (actors) ORDER BY expires DESC LIMIT 1000) l
 WHERE EXISTS (SELECT FROM task_ledger t WHERE t.project_id = p_project AND t.task_id = l.task_id AND NOT t.done AND NOT t.retired)
   AND NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = p_project AND r.task_id = l.task_id AND r.actor = ANY (actors)) $$;
