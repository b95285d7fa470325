-- Bars: volunteers and networks that an owner excludes from a project, and their answers, which can be set aside and
-- brought back. An answer that is set aside (task_run.aside) is stored and not counted, like a late one, but does not
-- count later either. One of a person who had answered the task before is set aside, too (aside 0), and never brought back. An owner can
-- also set an answer aside alone (aside -1), for a reason (aside_answer), and take it back.

-- Whether a volunteer is barred from a project: as a volunteer, or by their network if they are anonymous.
CREATE FUNCTION is_barred(p_project bigint, p_actor text, p_network text) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN EXISTS (SELECT FROM barred_volunteer WHERE project_id = p_project
                      AND subject IN (p_actor, CASE WHEN p_actor ~ '^[ci]:' THEN 'n:' || p_network END));
END $$;

-- Whether an answer or a lease belongs to the volunteer or network of a bar. p_network: the network of an anonymous
-- volunteer, otherwise null.
CREATE FUNCTION named_by(p_subject text, p_actor text, p_network text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN p_subject = p_actor OR p_subject = 'n:' || p_network AND p_actor ~ '^[ci]:';
END $$;

-- The first bar, but one, that covers answers of a volunteer or their network; null: none does.
CREATE FUNCTION covering_bar(p_project bigint, p_actor text, p_network text, p_but bigint DEFAULT NULL) RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT min(id) FROM barred_volunteer WHERE project_id = p_project AND id IS DISTINCT FROM p_but AND named_by(subject, p_actor, p_network) $$;

-- Bars a volunteer or a network and returns the id of the bar. An existing bar stays, with its reason.
CREATE FUNCTION bar(p_project bigint, p_subject text, p_shown text, p_user bigint, p_reason text, p_now timestamptz) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE b bigint;
BEGIN
    UPDATE project_ledger SET has_bars = true WHERE project_id = p_project;
    INSERT INTO barred_volunteer (project_id, subject, shown, at, user_id, reason) VALUES (p_project, p_subject, p_shown, p_now, p_user, p_reason)
        ON CONFLICT (project_id, subject) DO NOTHING;
    SELECT id INTO b FROM barred_volunteer WHERE project_id = p_project AND subject = p_subject;
    RETURN b;
END $$;

-- Removes a bar. False: it does not exist.
CREATE FUNCTION unbar(p_project bigint, p_bar bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM project_ledger WHERE project_id = p_project FOR NO KEY UPDATE;
    DELETE FROM barred_volunteer WHERE project_id = p_project AND id = p_bar;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE project_ledger SET has_bars = EXISTS (SELECT FROM barred_volunteer WHERE project_id = p_project) WHERE project_id = p_project;
    RETURN true;
END $$;

-- The next tasks that a barred volunteer or network has answered or holds, by id.
CREATE FUNCTION tasks_of_subject(p_project bigint, p_subject text, p_after bigint, p_maximum int) RETURNS bigint[] STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF p_subject LIKE 'n:%' THEN
        RETURN ARRAY(SELECT task_id FROM (
            SELECT task_id FROM task_run WHERE user_ip = substr(p_subject, 3) AND project_id + 0 = p_project AND task_id > p_after AND actor ~ '^[ci]:'
            UNION SELECT task_id FROM lease WHERE network = substr(p_subject, 3) AND project_id + 0 = p_project AND task_id > p_after AND actor ~ '^[ci]:') t
            ORDER BY 1 LIMIT p_maximum);
    ELSIF p_subject LIKE 'u:%' THEN
        RETURN ARRAY(SELECT task_id FROM (
            SELECT task_id FROM task_run WHERE user_id = substr(p_subject, 3)::bigint AND project_id = p_project AND actor = p_subject AND task_id > p_after
            UNION SELECT task_id FROM lease WHERE project_id = p_project AND actor = p_subject AND task_id > p_after) t ORDER BY 1 LIMIT p_maximum);
    END IF;
    RETURN ARRAY(SELECT task_id FROM (
        SELECT task_id FROM task_run WHERE project_id = p_project AND actor = p_subject AND task_id > p_after
        UNION SELECT task_id FROM lease WHERE project_id = p_project AND actor = p_subject AND task_id > p_after) t ORDER BY 1 LIMIT p_maximum);
END $$;

-- Sets answers to a task aside, some of which may count: aside is the bar, 0 or -1. The caller holds the ledger row.
CREATE FUNCTION put_aside(t task_ledger, p_runs bigint[], p_aside bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE k int := (SELECT count(*) FROM task_run WHERE project_id = t.project_id AND id = ANY (p_runs) AND counted);
BEGIN
    INSERT INTO stat_delta (project_id, hour, counted, wanted)
    SELECT t.project_id, date_trunc('hour', finish_time), -count(*), -(CASE WHEN t.retired THEN count(*) ELSE 0 END) FROM task_run
     WHERE project_id = t.project_id AND id = ANY (p_runs) AND counted GROUP BY 2;
    IF k > 0 THEN PERFORM unteach(t.project_id, t.task_id); END IF;
    DELETE FROM aside_answer WHERE project_id = t.project_id AND run = ANY (p_runs);
    UPDATE task_run SET aside = p_aside, counted = false WHERE project_id = t.project_id AND id = ANY (p_runs);
    UPDATE task_ledger SET answers = answers - k, uncounted = uncounted + k WHERE project_id = t.project_id AND task_id = t.task_id;
    PERFORM reconcile_task(t.project_id, t.task_id, k > 0, p_now);
END $$;

-- Sets aside the answers to these tasks, and ends the leases of them. answers: how many were not set aside before.
CREATE FUNCTION set_aside(p_project bigint, p_tasks bigint[], p_bar bigint, p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE who text := (SELECT subject FROM barred_volunteer WHERE project_id = p_project AND id = p_bar); r record; t task_ledger; is_done boolean;
    e effect := (0, 0, 0, 0); runs bigint[];
BEGIN
    FOR t IN SELECT * FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) AND who IS NOT NULL ORDER BY task_id FOR UPDATE LOOP
        FOR r IN SELECT actor FROM lease l WHERE l.project_id = p_project AND l.task_id = t.task_id AND named_by(who, l.actor, l.network) LOOP
            PERFORM end_lease(p_project, r.actor, t.task_id, 'infinity', p_now, false, p_now);
        END LOOP;
        runs := ARRAY(SELECT id FROM task_run x
                       WHERE x.project_id = p_project AND x.task_id = t.task_id AND x.aside IS NULL AND named_by(who, x.actor, x.user_ip));
        CONTINUE WHEN runs = '{}';
        PERFORM put_aside(t, runs, p_bar, p_now);
        SELECT done INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = t.task_id;
        e.tasks := e.tasks + 1;
        e.answers := e.answers + cardinality(runs);
        e.completed := e.completed + (is_done AND NOT t.done)::int;
        e.reopened := e.reopened + (t.done AND NOT is_done)::int;
    END LOOP;
    RETURN e;
END $$;

-- Brings back the answers that a bar has set aside, for the next tasks. They are late answers, which count if a place
-- is free. Answers that another bar covers too stay set aside by that one. last: the last of these tasks, null at the
-- end.
CREATE FUNCTION bring_back(p_project bigint, p_bar bigint, p_after bigint, p_maximum int, p_now timestamptz, OUT last bigint, OUT answers bigint) LANGUAGE plpgsql AS $$
DECLARE t bigint; n bigint;
BEGIN
    answers := 0;
    FOR t IN SELECT DISTINCT task_id FROM task_run WHERE aside = p_bar AND project_id = p_project AND task_id > p_after ORDER BY 1 LIMIT p_maximum LOOP
        PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = t FOR UPDATE;
        UPDATE task_run x SET aside = covering_bar(p_project, x.actor, x.user_ip, p_bar)
         WHERE x.project_id = p_project AND x.task_id = t AND x.aside = p_bar;
        GET DIAGNOSTICS n = ROW_COUNT;
        answers := answers + n;
        PERFORM reconcile_task(p_project, t, false, p_now);
        last := t;
    END LOOP;
END $$;

-- Sets some answers to a task aside alone, for a reason; others than those to a gold task, which say how good their volunteers are.
CREATE FUNCTION set_answers_aside(p_project bigint, p_task bigint, p_runs bigint[], p_reason text, p_user bigint, p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE t task_ledger; is_done boolean; runs bigint[];
BEGIN
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    runs := ARRAY(SELECT id FROM task_run WHERE project_id = p_project AND task_id = t.task_id AND id = ANY (p_runs) AND aside IS NULL AND NOT gold);
    IF runs = '{}' THEN RETURN (0, 0, 0, 0)::effect; END IF;
    PERFORM put_aside(t, runs, -1, p_now);
    INSERT INTO aside_answer (project_id, run, reason, user_id, at) SELECT p_project, u, p_reason, p_user, p_now FROM unnest(runs) u;
    SELECT done INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = p_task;
    RETURN (1, (is_done AND NOT t.done)::int, (t.done AND NOT is_done)::int, cardinality(runs))::effect;
END $$;

-- Restores answers to a task that an owner set aside one by one. Like late answers, they count if a place is free. Answers of a barred volunteer
-- stay aside, by the bar.
CREATE FUNCTION take_answers_back(p_project bigint, p_task bigint, p_runs bigint[], p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE t task_ledger; is_done boolean; runs bigint[];
BEGIN
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    runs := ARRAY(SELECT id FROM task_run WHERE project_id = p_project AND task_id = t.task_id AND id = ANY (p_runs) AND aside = -1);
    IF runs = '{}' THEN RETURN (0, 0, 0, 0)::effect; END IF;
    DELETE FROM aside_answer WHERE project_id = p_project AND run = ANY (runs);
    UPDATE task_run SET aside = covering_bar(p_project, actor, user_ip) WHERE project_id = p_project AND id = ANY (runs);
    PERFORM reconcile_task(p_project, p_task, false, p_now);
    SELECT done INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = p_task;
    RETURN (1, (is_done AND NOT t.done)::int, (t.done AND NOT is_done)::int, cardinality(runs))::effect;
END $$;
