-- Moving answers between volunteers: claimed at sign-up, or kept when an account is deleted. Invariants and lock order
-- are described at the head of 20_submission.sql. Counters move with the answers, as appended rows for both volunteers.

-- Keeps two volunteers from requesting tasks meanwhile. Locks in one order, so that two such changes cannot wait for
-- each other.
CREATE FUNCTION hold_volunteers(p_project bigint, p_one text, p_other text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(least(p_one, p_other), p_project));
    PERFORM pg_advisory_xact_lock(hashtextextended(greatest(p_one, p_other), p_project));
END $$;

-- Moves the answers of p_from (account p_was) to these tasks to p_to (account p_user, address p_ip), except for tasks
-- that p_to has answered, also as another of their actors (23_same_person.sql). Leases of p_to for these tasks are released, because p_to has answered them now. Scan
-- positions of p_from start again, because p_from has not answered them any more. Comments of p_from move to an account
-- with the answers. Returns how many answers moved.
CREATE FUNCTION move_runs(p_project bigint, p_from text, p_was bigint, p_to text, p_user bigint, p_ip text, p_tasks bigint[], p_now timestamptz)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE ids bigint[]; t bigint; actors text[];
BEGIN
    PERFORM hold_volunteers(p_project, p_from, p_to);
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) ORDER BY task_id FOR UPDATE;
    actors := array_remove(actors_of(p_project, p_to), p_from);
    WITH moved AS (
        UPDATE task_run r SET actor = p_to, user_id = p_user, user_ip = p_ip
         WHERE project_id = p_project AND task_id = ANY (p_tasks) AND actor = p_from
           AND NOT EXISTS (SELECT FROM task_run o WHERE o.project_id = p_project AND o.task_id = r.task_id AND o.actor = ANY (actors))
        RETURNING id, task_id, created, finish_time, timeout, trial, class
    ), taught AS (                                      -- what their answers have taught moves with them
        INSERT INTO evidence (project_id, task_id, generation, sign, actors, classes, posterior)
        SELECT p_project, m.task_id, x.generation, s.sign, ARRAY[s.actor], ARRAY[CASE x.generation WHEN 0 THEN 1 ELSE m.class END],
               CASE x.generation WHEN 0 THEN ARRAY[x.log_likelihoods[array_position(x.task_run_ids, m.id)]] ELSE x.posterior END
          FROM moved m JOIN result x ON x.project_id = p_project AND x.task_id = m.task_id AND x.last_version AND x.generation IS NOT NULL AND m.id = ANY (x.task_run_ids)
         CROSS JOIN (VALUES (p_from, -1), (p_to, 1)) s(actor, sign) WHERE CASE x.generation WHEN 0 THEN x.log_likelihoods[array_position(x.task_run_ids, m.id)] ELSE CASE WHEN m.class <= cardinality(x.posterior) THEN m.class END END IS NOT NULL
    ), figures AS (
        INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, seconds)
        SELECT p_project, date_trunc('hour', finish_time), s.actor, scorer(p_project, s.user_id, trial), s.sign * count(*),
               s.sign * sum(time_spent(created, finish_time, timeout))
          FROM moved CROSS JOIN (VALUES (p_from, p_was, -1), (p_to, p_user, 1)) s(actor, user_id, sign) GROUP BY 2, 3, 4, s.sign
    )
    SELECT coalesce(array_agg(task_id ORDER BY task_id), '{}') INTO ids FROM moved;
    PERFORM append_gold(jsonb_populate_record(r, jsonb_build_object('actor', p_from)), r.is_right, r.taught, -1), append_gold(r, r.is_right, r.taught, 1)
       FROM task_run r WHERE project_id = p_project AND task_id = ANY (ids) AND actor = p_to AND taught IS NOT NULL;
    FOR t IN DELETE FROM lease WHERE project_id = p_project AND actor = p_to AND task_id = ANY (ids) RETURNING task_id LOOP
        UPDATE task_ledger SET leases = leases - 1 WHERE project_id = p_project AND task_id = t;
        PERFORM reconcile_task(p_project, t, false, p_now);
    END LOOP;
    DELETE FROM expired_lease WHERE project_id = p_project AND actor = p_to AND task_id = ANY (ids);
    -- Their network has a place of its share back, and those who are linked with them have not answered these tasks any more.
    IF p_from ~ '^[ci]:' OR cardinality(actors_of(p_project, p_from)) > 1 THEN
        PERFORM reconcile_task(p_project, u, false, p_now) FROM unnest(ids) u;
    END IF;
    DELETE FROM position WHERE project_id = p_project AND actor = p_from;
    IF ids <> '{}' THEN PERFORM move_word(p_project, p_from, p_to); END IF;
    UPDATE task_run SET changed_xid = change_stamp()                                   -- answers that stay may be shown with another code now
     WHERE project_id = p_project AND task_id = ANY (p_tasks) AND actor = p_from;
    IF p_user IS NOT NULL THEN PERFORM move_comments(p_project, p_from, p_to, p_user); END IF;
    RETURN cardinality(ids);
END $$;

-- Moves the current and expired leases of p_from to the account p_to, except for tasks that p_to has answered or holds. A
-- task that was open during sign-up can then still be answered. Comments of p_from move, too. Returns how many.
CREATE FUNCTION move_rights(p_project bigint, p_from text, p_to text, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE ids bigint[]; n int; k int;
BEGIN
    PERFORM hold_volunteers(p_project, p_from, p_to);
    ids := ARRAY(SELECT task_id FROM (SELECT task_id FROM lease WHERE project_id = p_project AND actor = p_from
                 UNION SELECT task_id FROM expired_lease WHERE project_id = p_project AND actor = p_from) h
                  WHERE NOT EXISTS (SELECT FROM task_run x WHERE x.project_id = p_project AND x.task_id = h.task_id AND x.actor = p_to)
                    AND NOT EXISTS (SELECT FROM lease x WHERE x.project_id = p_project AND x.task_id = h.task_id AND x.actor = p_to)
                    AND NOT EXISTS (SELECT FROM expired_lease x WHERE x.project_id = p_project AND x.task_id = h.task_id AND x.actor = p_to));
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ids || ARRAY(
        SELECT task_id FROM lease WHERE project_id = p_project AND actor = p_to)) ORDER BY task_id FOR UPDATE;
    UPDATE lease SET actor = p_to WHERE project_id = p_project AND actor = p_from AND task_id = ANY (ids);
    GET DIAGNOSTICS n = ROW_COUNT;
    UPDATE expired_lease SET actor = p_to WHERE project_id = p_project AND actor = p_from AND task_id = ANY (ids);
    GET DIAGNOSTICS k = ROW_COUNT;
    UPDATE lease SET soft = 2 WHERE project_id = p_project AND soft < 2 AND id IN (
        SELECT id FROM lease WHERE project_id = p_project AND actor = p_to ORDER BY id OFFSET firm_of_volunteer());
    IF n > 0 AND p_from ~ '^[ci]:' THEN
        PERFORM reconcile_task(p_project, u, false, p_now) FROM unnest(ids) u;
    END IF;
    DELETE FROM position WHERE project_id = p_project AND actor = p_from;
    PERFORM move_comments(p_project, p_from, p_to, substr(p_to, 3)::bigint);
    RETURN n + k;
END $$;

-- Releases everything that a volunteer holds, and removes their scan positions.
CREATE FUNCTION forget_volunteer(p_project bigint, p_actor text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));
    FOR t IN SELECT task_id FROM lease WHERE project_id = p_project AND actor = p_actor ORDER BY task_id LOOP
        PERFORM release_task(p_project, p_actor, t, false, p_now);
    END LOOP;
    DELETE FROM expired_lease WHERE project_id = p_project AND actor = p_actor;
    DELETE FROM position WHERE project_id = p_project AND actor = p_actor;
END $$;

-- Removes the counters of a deleted account, as far as they are folded and empty.
CREATE FUNCTION forget_person(p_user bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    IF EXISTS (SELECT FROM stat_delta WHERE user_id = p_user) OR EXISTS (SELECT FROM account WHERE id = p_user) THEN RETURN; END IF;
    DELETE FROM reliability WHERE actor = 'u:' || p_user;
    DELETE FROM person_stat WHERE user_id = p_user AND runs = 0 AND NOT shown;
    DELETE FROM volunteer_day d WHERE actor = 'u:' || p_user AND runs = 0
       AND EXISTS (SELECT FROM volunteer v WHERE v.project_id = d.project_id AND v.actor = d.actor);
    DELETE FROM volunteer v WHERE actor = 'u:' || p_user AND runs = 0
       AND NOT EXISTS (SELECT FROM stat_delta d WHERE d.project_id = v.project_id AND d.actor = v.actor);
END $$;

-- Removes an account from the volunteers that events name, in the next p_most events after one. Returns the last event
-- that was checked; nulls at the end.
CREATE FUNCTION forget_in_events(p_user bigint, p_project bigint, p_event bigint, p_maximum int, OUT project bigint, OUT event bigint) LANGUAGE plpgsql AS $$
BEGIN
    SELECT e.project_id, e.id INTO project, event FROM (
        SELECT project_id, id FROM event WHERE (project_id, id) > (p_project, p_event) ORDER BY project_id, id LIMIT p_maximum) e
     ORDER BY 1 DESC, 2 DESC LIMIT 1;
    UPDATE event e SET data = jsonb_set(data, '{user_ids}', coalesce(
               (SELECT jsonb_agg(u ORDER BY nth) FROM jsonb_array_elements(data->'user_ids') WITH ORDINALITY a(u, nth) WHERE u <> to_jsonb(p_user)), '[]'))
     WHERE (e.project_id, e.id) > (p_project, p_event) AND (e.project_id, e.id) <= (project, event) AND data->'user_ids' @> to_jsonb(p_user);
END $$;
