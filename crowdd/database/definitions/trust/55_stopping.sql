-- Adaptive redundancy as its owner changes it while people work: switched on or off, other numbers; and what that would do. What a
-- single task wants is decided in 20_submission.sql (wanted_so_far, stops).

-- When tasks of a project stop early: min_answers null if they do not. One row.
CREATE FUNCTION stopping_of(p_project bigint, OUT min_answers int, OUT confidence real) STABLE LANGUAGE plpgsql AS $$
BEGIN
    SELECT m.min_answers, m.confidence INTO min_answers, confidence FROM trust_model m WHERE m.project_id = p_project AND m.confidence IS NOT NULL;
END $$;

-- Has tasks follow info.trust as it is now: those that are open, and with p_completed also those that are complete.
CREATE FUNCTION set_stopping(p_project bigint, p_tasks bigint[], p_completed boolean, p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE t task_ledger; u task_ledger; e effect := (0, 0, 0, 0); s record; more bigint := 0;
BEGIN
    SELECT * INTO s FROM stopping_of(p_project);
    FOR t IN SELECT * FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) AND (p_completed OR NOT done) ORDER BY task_id FOR UPDATE LOOP
        u := followed(t, s.min_answers, s.confidence);
        CONTINUE WHEN (u.n_answers, u.max_answers) IS NOT DISTINCT FROM (t.n_answers, t.max_answers) AND (t.done OR t.max_answers IS NULL);
        IF coalesce(u.max_answers, u.n_answers) <> coalesce(t.max_answers, t.n_answers) THEN
            PERFORM keep_version('task_ledger', to_jsonb(t), false);
        END IF;
        UPDATE task_ledger SET n_answers = u.n_answers, max_answers = u.max_answers, changed_xid = change_stamp() WHERE project_id = p_project AND task_id = t.task_id;
        PERFORM reconcile_task(p_project, t.task_id, false, p_now);
        IF NOT t.retired THEN more := more + u.n_answers - t.n_answers; END IF;
        SELECT * INTO u FROM task_ledger WHERE project_id = p_project AND task_id = t.task_id;
        e.tasks := e.tasks + ((u.n_answers, u.max_answers, u.done) IS DISTINCT FROM (t.n_answers, t.max_answers, t.done))::int;
        e.completed := e.completed + (u.done AND NOT t.done)::int;
        e.reopened := e.reopened + (t.done AND NOT u.done)::int;
    END LOOP;
    IF more <> 0 THEN INSERT INTO stat_delta (project_id, hour, wanted) VALUES (p_project, date_trunc('hour', p_now), more); END IF;
    RETURN e;
END $$;

-- A task as it is under these settings, before it is decided whether it has enough (reconcile_task).
CREATE FUNCTION followed(t task_ledger, p_minimum int, p_confidence real) RETURNS task_ledger LANGUAGE plpgsql AS $$
DECLARE w weighed;
BEGIN
    IF p_minimum IS NULL THEN
        IF t.max_answers IS NULL OR t.done AND t.answers >= t.max_answers OR is_ruled(t) THEN RETURN t; END IF;
        t.n_answers := t.max_answers; t.max_answers := NULL;
    ELSIF t.done THEN
        IF t.max_answers IS NULL OR t.answers >= t.max_answers OR is_ruled(t) THEN RETURN t; END IF;
        w := weigh(t.project_id, t.task_id);
        IF t.answers < greatest(p_minimum, t.least_answers) OR w.class IS NULL OR sureness(w) < p_confidence THEN t.n_answers := t.answers + 1; END IF;
    ELSIF t.n_answers <= 50 THEN
        t.max_answers := coalesce(t.max_answers, t.n_answers);
        t.n_answers := wanted_so_far(t, p_minimum);
    END IF;
    RETURN t;
END $$;

CREATE FUNCTION preview_stopping(p_project bigint, p_tasks bigint[], p_minimum int, p_confidence real, p_completed boolean) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*) FILTER (WHERE would <> done OR (n, maximum) IS DISTINCT FROM (n_answers, max_answers)),
       count(*) FILTER (WHERE would AND NOT done), count(*) FILTER (WHERE done AND NOT would), 0
  FROM (SELECT l.done, l.n_answers, l.max_answers, u.n_answers AS n, u.max_answers AS maximum,
               CASE WHEN l.done AND (u.n_answers, u.max_answers) IS NOT DISTINCT FROM (l.n_answers, l.max_answers) THEN true
                    WHEN u.max_answers IS NULL THEN would_be_complete(l, u.n_answers, 0, '', 0) WHEN l.retired THEN l.done
                    ELSE would_stop(l, u.n_answers, u.max_answers, p_minimum, p_confidence, '', 0, 0) END AS would
          FROM chosen_tasks(p_project, p_tasks) l CROSS JOIN LATERAL followed(l, p_minimum, p_confidence) u WHERE p_completed OR NOT l.done) t $$;

-- Whether a task would be complete with adaptive redundancy if it wanted p_n answers so far, at most p_maximum, and some of its answers and
-- leases were removed (p_but: whose). Late answers count one by one, as far as they are wanted.
CREATE FUNCTION would_stop(t task_ledger, p_n int, p_maximum int, p_minimum int, p_confidence real, p_but text, p_counted_gone int, p_leases_gone int)
RETURNS boolean STABLE LANGUAGE plpgsql AS $$
DECLARE w weighed; late bigint[] := '{}'; n int := 0; places int := CASE t.mode WHEN 'unlimited' THEN 0 ELSE t.leases - p_leases_gone END; has int := t.answers - p_counted_gone;
BEGIN
    IF t.uncounted > 0 THEN
        late := ARRAY(SELECT id FROM task_run WHERE project_id = t.project_id AND task_id = t.task_id AND NOT counted AND aside IS NULL AND NOT unreliable
                         AND actor <> p_but ORDER BY id LIMIT countable(t.project_id, t.task_id, p_but));
    END IF;
    n := least(cardinality(late), greatest(0, p_n - has - places));
    LOOP
        IF has + n < p_n AND (places > 0 OR t.mode = 'unlimited') THEN RETURN false; END IF;
        IF has + n >= p_maximum THEN RETURN true; END IF;
        IF has + n >= greatest(p_minimum, t.least_answers) THEN
            w := weigh(t.project_id, t.task_id, p_but, late[1:n]);
            IF w.class IS NOT NULL AND sureness(w) >= p_confidence THEN RETURN true; END IF;
        END IF;
        IF n = cardinality(late) THEN RETURN false; END IF;
        n := n + 1; p_n := has + n;
    END LOOP;
END $$;

-- The same for another number of answers (set_redundancy).
CREATE FUNCTION would_stop_at(t task_ledger, p_n int, p_minimum int, p_confidence real) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
DECLARE n int := redundancy_to(t, p_n, p_minimum);
BEGIN
    IF n = p_n AND (p_minimum IS NULL OR p_n > 50) THEN RETURN would_be_complete(t, p_n, 0, '', 0); END IF;
    IF t.done AND n = t.answers THEN RETURN true; END IF;
    IF t.retired THEN RETURN t.answers >= n; END IF;
    RETURN would_stop(t, n, p_n, p_minimum, p_confidence, '', 0, 0);
END $$;

-- Has the answers of a volunteer count although they seemed no better than chance, in these tasks as far as places are free. Tasks are locked
-- before the volunteer, for whom a fold waits with the model in its hands.
CREATE FUNCTION lift(p_project bigint, p_tasks bigint[], p_actor text, p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE t task_ledger; is_done boolean; e effect := (0, 0, 0, 0); n int;
BEGIN
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) AND uncounted > 0 ORDER BY task_id FOR UPDATE;
    INSERT INTO reliability (project_id, actor, generation, lifted)
    SELECT p_project, p_actor, coalesce((SELECT generation FROM trust_model WHERE project_id = p_project), 0), true
        ON CONFLICT (project_id, actor) DO UPDATE SET lifted = true, counts = true WHERE NOT reliability.lifted;
    FOR t IN SELECT * FROM task_ledger l WHERE project_id = p_project AND task_id = ANY (p_tasks) AND uncounted > 0
                AND EXISTS (SELECT FROM task_run r WHERE r.project_id = p_project AND r.task_id = l.task_id AND r.actor = p_actor AND r.unreliable)
              ORDER BY task_id LOOP
        UPDATE task_run SET unreliable = false WHERE project_id = p_project AND task_id = t.task_id AND actor = p_actor AND unreliable;
        GET DIAGNOSTICS n = ROW_COUNT;
        PERFORM reconcile_task(p_project, t.task_id, false, p_now);
        SELECT done INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = t.task_id;
        e.tasks := e.tasks + 1; e.answers := e.answers + n;
        e.completed := e.completed + (is_done AND NOT t.done)::int;
    END LOOP;
    RETURN e;
END $$;

CREATE FUNCTION preview_lift(p_project bigint, p_tasks bigint[], p_actor text) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(DISTINCT task_id), 0, 0, count(*) FROM task_run
 WHERE project_id = p_project AND actor = p_actor AND unreliable AND (p_tasks IS NULL OR task_id = ANY (p_tasks)) $$;
