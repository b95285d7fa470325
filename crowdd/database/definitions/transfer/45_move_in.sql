-- Moving in from PyBossa (crowdd/features/movein): rows that keep their ids. Nobody works on the projects meanwhile: they are
-- paused or drafts until all is there. Each function takes rows in the order of their ids and returns what became of each: added, or why
-- it was refused. Plans are made while the tables are nearly empty and kept while they grow: where that would matter, only indexes are used.

-- Adds tasks like add_tasks. p_rows: {id, project, created, info, n_answers, priority_0, quorum, calibration, favourites} each.
CREATE FUNCTION move_in_tasks(p_rows jsonb, p_now timestamptz) RETURNS TABLE (id bigint, fate text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    PERFORM FROM project_ledger WHERE project_id IN (SELECT (e->>'project')::bigint FROM jsonb_array_elements(p_rows) e) ORDER BY project_id FOR UPDATE;
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT r.*, l.project_id IS NOT NULL AS there, mode_of(l.sched) AS mode, l.n_ordinals, l.max_rank, l.two_way,
               -- Of two tasks of a project, the one with the higher id was never created earlier.
               greatest((SELECT t.created FROM task t WHERE t.project_id = r.project ORDER BY t.id DESC LIMIT 1),
                        max(r.created) OVER (PARTITION BY r.project ORDER BY r.id)) AS at,
               row_number() OVER (PARTITION BY r.project ORDER BY r.id) AS nth
          FROM jsonb_to_recordset(p_rows) r(id bigint, project bigint, created timestamptz, info jsonb, n_answers int, priority_0 float8, quorum bigint,
                                            calibration bigint, favourites bigint[])
          LEFT JOIN project_ledger l ON l.project_id = r.project
    ), wide AS (
        INSERT INTO task (id, project_id, created, info, quorum, calibration)
        SELECT id, project, at, coalesce(info, 'null'), quorum, calibration FROM given WHERE there ORDER BY id
    ), narrow AS (
        INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, mode, priority_0, requeued_xid)
        SELECT project, id, n_ordinals + nth, n_answers, mode, priority_0, CASE WHEN mode = 'by_level' OR two_way OR -priority_0 < max_rank THEN stamp(project) END
          FROM given WHERE there ORDER BY id
    ), ledgers AS (
        UPDATE project_ledger l SET n_ordinals = l.n_ordinals + g.n, max_rank = greatest(l.max_rank, g.rank)
          FROM (SELECT project, count(*) AS n, max(-priority_0) AS rank FROM given WHERE there GROUP BY 1) g WHERE l.project_id = g.project
    ), stats AS (
        INSERT INTO stat_delta (project_id, hour, tasks, wanted)
        SELECT project, date_trunc('hour', at), count(*), sum(n_answers) FROM given WHERE there GROUP BY 1, 2
    ), liked AS (
        INSERT INTO favourite (project_id, task_id, user_id, created)
        SELECT g.project, g.id, a.id, g.at FROM given g CROSS JOIN LATERAL unnest(g.favourites) f(user_id) JOIN account a ON a.id = f.user_id WHERE g.there
            ON CONFLICT DO NOTHING
    )
    SELECT id, CASE WHEN there THEN 'added' ELSE 'Its project was refused or does not exist.' END FROM given;
END $$;

-- Stores answers like submit, without leases and events. They count as long as there are places, and complete nothing: move_in_results and
-- move_in_completions do. p_rows: {id, project, task, actor, user_id, ip, uid, created, finished, calibration, media_url, info} each.
CREATE FUNCTION move_in_answers(p_rows jsonb, p_now timestamptz) RETURNS TABLE (id bigint, fate text) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM FROM task_ledger WHERE (project_id, task_id) IN (SELECT (e->>'project')::bigint, (e->>'task')::bigint FROM jsonb_array_elements(p_rows) e)
      ORDER BY project_id, task_id FOR UPDATE;
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT r.*, p.trial, p.project_id IS NOT NULL AS has_project, l.task_id IS NOT NULL AS has_task, l.answers, l.n_answers, l.retired,
               row_number() OVER (PARTITION BY r.project, r.task, r.actor ORDER BY r.id) AS of_volunteer,
               EXISTS (SELECT FROM task_run a WHERE a.project_id = r.project AND a.task_id = r.task AND a.actor = r.actor) AS answered
          FROM jsonb_to_recordset(p_rows) r(id bigint, project bigint, task bigint, actor text, user_id bigint, ip text, uid text, created timestamptz,
                                            finished timestamptz, calibration bigint, media_url text, info jsonb)
          LEFT JOIN project_ledger p ON p.project_id = r.project
          LEFT JOIN task_ledger l ON l.project_id = r.project AND l.task_id = r.task
    ), judged AS MATERIALIZED (
        SELECT *, CASE WHEN NOT has_project THEN 'Its project was refused or does not exist.'
                       WHEN NOT has_task THEN 'Its task was refused, or is not a task of its project.'
                       WHEN answered OR of_volunteer > 1 THEN 'The same volunteer has another answer to the task.' ELSE 'added' END AS fate FROM given
    ), placed AS MATERIALIZED (
        SELECT *, NOT retired AND answers + row_number() OVER (PARTITION BY project, task ORDER BY id) <= n_answers AS counts FROM judged WHERE fate = 'added'
    ), runs AS (
        INSERT INTO task_run (id, project_id, task_id, actor, user_id, user_ip, external_uid, created, finish_time, counted, trial, calibration, media_url, info)
        OVERRIDING SYSTEM VALUE
        SELECT id, project, task, actor, user_id, ip, uid, created, finished, counts, trial, calibration, media_url, coalesce(info, 'null') FROM placed ORDER BY id
    ), ledgers AS (
        UPDATE task_ledger l SET answers = l.answers + g.counted, uncounted = l.uncounted + g.n - g.counted,
               requeued_xid = CASE WHEN l.mode IN ('one_at_a_time', 'by_level') THEN stamp(l.project_id) ELSE l.requeued_xid END
          FROM (SELECT project, task, count(*) AS n, count(*) FILTER (WHERE counts) AS counted FROM placed GROUP BY 1, 2) g
         WHERE l.project_id = g.project AND l.task_id = g.task
    ), stats AS (
        INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, seconds, bytes)
        SELECT project, date_trunc('hour', finished), actor, scorer(project, user_id, trial), count(*), count(*) FILTER (WHERE counts),
               sum(time_spent(created, finished, NULL)), sum(octet_length(coalesce(info, 'null')::text)) FROM placed GROUP BY 1, 2, 3, 4
    )
    SELECT id, fate FROM judged;
    PERFORM volunteer_word(a.project, a.actor) FROM (
        SELECT DISTINCT project, actor FROM jsonb_to_recordset(p_rows) r(id bigint, project bigint, actor text)
         WHERE EXISTS (SELECT FROM task_run x WHERE x.project_id = r.project AND x.id = r.id) ORDER BY 1, 2) a;
END $$;

-- Retires tasks that PyBossa took for completed although they have fewer answers than they want: nobody is asked again. Returns those.
CREATE FUNCTION move_in_states(p_tasks bigint[], p_now timestamptz) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE g record;
BEGIN
    FOR g IN SELECT l.project_id, array_agg(l.task_id ORDER BY l.task_id) AS ids FROM task t JOIN task_ledger l ON l.project_id = t.project_id AND l.task_id = t.id
              WHERE t.id = ANY (p_tasks) AND NOT is_complete(l.answers, l.n_answers) AND NOT l.retired GROUP BY 1 ORDER BY 1 LOOP
        PERFORM retire(g.project_id, g.ids, 'retired', 'Completed in PyBossa with fewer answers.', NULL, p_now);
        RETURN QUERY SELECT unnest(g.ids);
    END LOOP;
END $$;

-- Stores the result of a task, and completes it if it has its answers. p_id null: a new id.
CREATE FUNCTION move_in_result(l task_ledger, p_id bigint, p_last boolean, p_created timestamptz, p_runs bigint[], p_info jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE s said; ids bigint[]; answers jsonb[]; completes boolean := p_last AND is_complete(l.answers, l.n_answers);
BEGIN
    IF p_last THEN
        SELECT array_agg(run ORDER BY run), array_agg(value ORDER BY value) FILTER (WHERE value IS NOT NULL) INTO ids, answers FROM answer_values(l.project_id, l.task_id);
        s := most_frequent(answers);
    END IF;
    INSERT INTO result (id, project_id, task_id, version, last_version, task_run_ids, created, info, consensus, consensus_hash, n_compared, agreement, confidence)
    OVERRIDING SYSTEM VALUE
    SELECT coalesce(p_id, nextval(pg_get_serial_sequence('result', 'id'))), l.project_id, l.task_id,
           coalesce((SELECT max(version) FROM result WHERE project_id = l.project_id AND task_id = l.task_id), 0) + 1, p_last,
           CASE WHEN completes THEN ids ELSE p_runs END, p_created, p_info, s.consensus, s.consensus_hash, s.n_compared, s.agreement, s.confidence;
    IF completes THEN UPDATE task_ledger SET done = true, changed_xid = change_stamp() WHERE project_id = l.project_id AND task_id = l.task_id; END IF;
    INSERT INTO stat_delta (project_id, hour, completed, bytes, outcomes, consensus_hash, n_compared, agreement)
    VALUES (l.project_id, date_trunc('hour', p_created), (completes AND NOT l.retired)::int, coalesce(octet_length(p_info::text), 0),
            CASE WHEN p_last THEN 1 END, s.consensus_hash, s.n_compared, s.agreement);
END $$;

-- Stores results. A last one stays the last if its task is complete or retired; of several the first does. p_rows: {id, project, task, last,
-- created, runs, info} each.
CREATE FUNCTION move_in_results(p_rows jsonb) RETURNS TABLE (id bigint, fate text) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE r record; l task_ledger; stays boolean;
BEGIN
    FOR r IN SELECT * FROM jsonb_to_recordset(p_rows) x(id bigint, project bigint, task bigint, last boolean, created timestamptz, runs bigint[], info jsonb) ORDER BY x.id LOOP
        SELECT * INTO l FROM task_ledger t WHERE t.project_id = r.project AND t.task_id = r.task FOR UPDATE;
        id := r.id; fate := CASE WHEN FOUND THEN 'added' ELSE 'Its task was refused, or is not a task of its project.' END;
        IF fate = 'added' THEN
            stays := r.last AND (is_complete(l.answers, l.n_answers) OR l.retired)
                 AND NOT EXISTS (SELECT FROM result x WHERE x.project_id = r.project AND x.task_id = r.task AND x.last_version);
            PERFORM move_in_result(l, r.id, stays, r.created, coalesce(r.runs, '{}'), r.info);
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

-- Completes the next tasks after one that have their answers and came without a result. Returns the last task that was looked at, null at the
-- end, and how many were completed.
CREATE FUNCTION move_in_completions(p_after bigint, p_maximum int, p_now timestamptz, OUT last bigint, OUT completed bigint) LANGUAGE plpgsql AS $$
DECLARE l task_ledger;
BEGIN
    completed := 0;
    SELECT max(t.id) INTO last FROM (SELECT id FROM task WHERE id > p_after ORDER BY id LIMIT p_maximum) t;
    FOR l IN SELECT g.* FROM task t JOIN task_ledger g ON g.project_id = t.project_id AND g.task_id = t.id
              WHERE t.id > p_after AND t.id <= last AND NOT g.done AND is_complete(g.answers, g.n_answers) ORDER BY t.id FOR UPDATE OF g LOOP
        PERFORM move_in_result(l, NULL, true, coalesce((SELECT max(finish_time) FROM task_run WHERE project_id = l.project_id AND task_id = l.task_id AND counted), p_now), NULL, NULL);
        completed := completed + 1;
    END LOOP;
END $$;
