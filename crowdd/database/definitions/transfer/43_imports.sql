-- Turns rows of files into tasks and answers, some at a time. Each function is called while project_ledger is locked
-- (hold_imports), so that of two imports one sees what the other has added.

-- The state of an import: reading, unread, unreadable, pending, that of its background task, or done.
CREATE FUNCTION import_state(p_import bigint) RETURNS text STABLE LANGUAGE sql AS $$
SELECT CASE WHEN i.queue_item IS NOT NULL THEN CASE WHEN i.ended IS NOT NULL THEN 'done'
            ELSE coalesce((SELECT q.state FROM queue_item q WHERE q.id = i.queue_item), 'dead') END
            WHEN i.check_error <> '' THEN 'unreadable' WHEN i.preview IS NOT NULL THEN 'pending'
            WHEN EXISTS (SELECT FROM queue_item q WHERE q.id = i.check_item AND q.state IN ('waiting', 'running')) THEN 'reading' ELSE 'unread' END
  FROM task_import i WHERE i.id = p_import $$;

-- Stores the values of a key for p_most more tasks. False: none is left. If two tasks have one value, it belongs to the
-- older one.
CREATE FUNCTION learn_task_keys(p_project bigint, p_name text, p_maximum int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE upto_ bigint; last bigint;
BEGIN
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    INSERT INTO task_key_name (project_id, name) VALUES (p_project, p_name) ON CONFLICT DO NOTHING;
    SELECT upto INTO upto_ FROM task_key_name WHERE project_id = p_project AND name = p_name FOR UPDATE;
    SELECT max(id) INTO last FROM (SELECT id FROM task WHERE project_id = p_project AND id > upto_ ORDER BY id LIMIT p_maximum) t;
    IF last IS NULL THEN RETURN false; END IF;
    INSERT INTO task_key (project_id, name, key, task_id)
    SELECT DISTINCT ON (info->>p_name) p_project, p_name, info->>p_name, id FROM task
     WHERE project_id = p_project AND id > upto_ AND id <= last AND jsonb_typeof(info->p_name) IN ('string', 'number')
       AND length(info->>p_name) BETWEEN 1 AND 500
     ORDER BY info->>p_name, id ON CONFLICT DO NOTHING;
    UPDATE task_key_name SET upto = last WHERE project_id = p_project AND name = p_name;
    RETURN true;
END $$;

-- Of each info whether the project has a task with it, in order. Each is looked up separately (LATERAL, LIMIT), so that the
-- planner never reads whole tables.
CREATE FUNCTION known_infos(p_project bigint, p_infos jsonb) RETURNS boolean[] STABLE LANGUAGE sql AS $$
SELECT ARRAY(
    SELECT x.id IS NOT NULL
      FROM jsonb_array_elements(p_infos) WITH ORDINALITY u(e, o)
      LEFT JOIN LATERAL (SELECT t.id FROM task t WHERE t.project_id = p_project AND md5(t.info::text)::uuid = md5(e::text)::uuid LIMIT 1) x ON true
     ORDER BY o) $$;

-- The tasks of runs, in order (import_new_tasks).
CREATE FUNCTION tasks_of_runs(p_runs jsonb) RETURNS SETOF new_task STABLE LANGUAGE sql AS $$
SELECT (i.info, r.n_answers, r.priority_0, r.quorum, r.calibration, r.gold)::new_task
  FROM jsonb_to_recordset(p_runs) r(infos jsonb, n_answers int, priority_0 float8, quorum bigint, calibration bigint, gold jsonb),
       jsonb_array_elements(r.infos) i(info) $$;

-- Adds the tasks that the project does not have, each once; all of them with p_again. p_runs: tasks that follow each other with the same
-- attributes, {infos, n_answers, priority_0, quorum, calibration, gold} each: to read the attributes again for each task takes as long as
-- to read its info. Which tasks are there is asked in the order of digests, as they stand in the index.
CREATE FUNCTION import_new_tasks(p_project bigint, p_runs jsonb, p_again boolean, p_now timestamptz, OUT added bigint, OUT present bigint) LANGUAGE plpgsql AS $$
DECLARE tasks new_task[];
BEGIN
    IF p_again THEN
        tasks := ARRAY(SELECT t FROM tasks_of_runs(p_runs) t);
    ELSE
        tasks := ARRAY(
            SELECT n.t FROM (
                SELECT f.*, row_number() OVER (PARTITION BY digest ORDER BY o) AS nth
                  FROM (SELECT t, row_number() OVER () AS o, md5(t.info::text)::uuid AS digest FROM tasks_of_runs(p_runs) t) f) n
              LEFT JOIN LATERAL (SELECT x.id FROM task x WHERE x.project_id = p_project AND md5(x.info::text)::uuid = n.digest LIMIT 1) x ON true
             WHERE n.nth = 1 AND x.id IS NULL ORDER BY n.o);
    END IF;
    added := cardinality(tasks);
    present := (SELECT coalesce(sum(jsonb_array_length(r->'infos')), 0) FROM jsonb_array_elements(p_runs) r) - added;
    IF added > 0 THEN PERFORM insert_tasks(p_project, tasks, p_now); END IF;
END $$;

-- Whether an import may still change a task: it is not retired, nobody holds it, and no answer counts. In a draft,
-- trial answers do not matter, because they are deleted when it is published.
CREATE FUNCTION open_to_changes(l task_ledger, p_trial boolean, p_now timestamptz) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT NOT l.retired
   AND (l.answers = 0 OR p_trial AND NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = l.project_id AND r.task_id = l.task_id AND r.counted AND NOT r.trial))
   AND (l.leases = 0 OR NOT EXISTS (SELECT FROM lease x WHERE x.project_id = l.project_id AND x.task_id = l.task_id AND x.expires > p_now)) $$;

-- What becomes of the info of a task: that of its row. p_keep: columns that the row does not have stay.
CREATE FUNCTION imported_info(p_row jsonb, t task, p_keep boolean) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_keep AND jsonb_typeof(t.info) = 'object' AND jsonb_typeof(p_row->'info') = 'object' THEN t.info || (p_row->'info') ELSE p_row->'info' END $$;

-- Whether a row differs from its task. p_row: as below. Only attributes that the file has are compared.
CREATE FUNCTION says_otherwise(p_row jsonb, t task, l task_ledger, p_keep boolean) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT imported_info(p_row, t, p_keep) <> t.info
    OR p_row->'given' ? 'n_answers' AND (p_row->>'n_answers')::int <> coalesce(l.max_answers, l.n_answers)
    OR p_row->'given' ? 'priority_0' AND (p_row->>'priority_0')::float8 <> l.priority_0
    OR p_row->'given' ? 'quorum' AND (p_row->>'quorum')::bigint <> t.quorum $$;

-- Matches rows with a key: one result per row, in order. p_rows: {key, info, n_answers, priority_0, quorum,
-- calibration, given} each. Each row is looked up separately (LATERAL, LIMIT), so that the planner never reads whole
-- tables.
CREATE FUNCTION match_keyed_rows(p_project bigint, p_name text, p_rows jsonb, p_keep boolean, p_now timestamptz)
RETURNS TABLE (nth bigint, task_id bigint, fate text, retired boolean) STABLE LANGUAGE sql AS $$
SELECT o, f.task_id, CASE WHEN f.task_id IS NULL THEN 'added' WHEN NOT f.otherwise THEN 'same' WHEN f.may THEN 'updated' ELSE 'kept' END,
       coalesce(f.retired, false)
  FROM jsonb_array_elements(p_rows) WITH ORDINALITY u(e, o)
  LEFT JOIN LATERAL (
      SELECT k.task_id, says_otherwise(e, t, l, p_keep) AS otherwise, open_to_changes(l, p.trial, p_now) AS may, l.retired
        FROM (SELECT x.task_id FROM task_key x WHERE x.project_id = p_project AND x.name = p_name AND x.key = e->>'key' LIMIT 1) k
       CROSS JOIN LATERAL (SELECT * FROM task x WHERE x.project_id = p_project AND x.id = k.task_id LIMIT 1) t
       CROSS JOIN LATERAL (SELECT * FROM task_ledger x WHERE x.project_id = p_project AND x.task_id = k.task_id LIMIT 1) l
       CROSS JOIN (SELECT trial FROM project_ledger WHERE project_id = p_project) p
       LIMIT 1) f ON true
 ORDER BY o $$;

-- Adds, updates or leaves alone the tasks of these rows. p_seen: keys of rows that were refused; their tasks are not
-- missing.
CREATE FUNCTION import_keyed_rows(p_project bigint, p_name text, p_rows jsonb, p_keep boolean, p_seen text[], p_import bigint, p_now timestamptz,
                                  OUT added bigint, OUT updated bigint, OUT same bigint, OUT kept bigint) LANGUAGE plpgsql AS $$
DECLARE r record; e jsonb; missing jsonb; ids bigint[]; here text;
BEGIN
    added := 0; updated := 0; same := 0; kept := 0;
    WHILE learn_task_keys(p_project, p_name, 5000) LOOP END LOOP;
    FOR r IN SELECT m.task_id FROM match_keyed_rows(p_project, p_name, p_rows, p_keep, p_now) m WHERE m.task_id IS NOT NULL ORDER BY 1 LOOP
        PERFORM FROM task_ledger l WHERE l.project_id = p_project AND l.task_id = r.task_id FOR UPDATE;
    END LOOP;
    SELECT jsonb_agg(u.e ORDER BY u.o) INTO missing FROM jsonb_array_elements(p_rows) WITH ORDINALITY u(e, o)
      JOIN match_keyed_rows(p_project, p_name, p_rows, p_keep, p_now) m ON m.nth = u.o WHERE m.task_id IS NULL;
    FOR r IN SELECT * FROM match_keyed_rows(p_project, p_name, p_rows, p_keep, p_now) m WHERE m.task_id IS NOT NULL ORDER BY m.task_id LOOP
        same := same + (r.fate = 'same')::int;
        kept := kept + (r.fate = 'kept')::int;
        CONTINUE WHEN r.fate <> 'updated';
        e := p_rows->(r.nth - 1)::int;
        UPDATE task t SET info = imported_info(e, t, p_keep), quorum = CASE WHEN e->'given' ? 'quorum' THEN (e->>'quorum')::bigint ELSE t.quorum END
         WHERE t.project_id = p_project AND t.id = r.task_id;
        IF e->'given' ? 'n_answers' THEN PERFORM set_redundancy(p_project, ARRAY[r.task_id], (e->>'n_answers')::int, p_now); END IF;
        IF e->'given' ? 'priority_0' THEN PERFORM set_priority(p_project, ARRAY[r.task_id], (e->>'priority_0')::float8); END IF;
        updated := updated + 1;
    END LOOP;
    IF missing IS NOT NULL THEN
        ids := add_tasks(p_project, missing, p_now);
        added := cardinality(ids);
        INSERT INTO task_key (project_id, name, key, task_id)
        SELECT p_project, p_name, f.e->>'key', ids[f.o] FROM jsonb_array_elements(missing) WITH ORDINALITY f(e, o);
    END IF;
    FOR here IN SELECT unnest(p_seen) UNION SELECT x->>'key' FROM jsonb_array_elements(p_rows) x ORDER BY 1 LOOP
        UPDATE task_key k SET seen = p_import WHERE k.project_id = p_project AND k.name = p_name AND k.key = here AND k.seen < p_import;
    END LOOP;
END $$;

-- Which tasks of an export exist. p_rows: {source, original, info, nth, …} each. source and original are the project
-- and id that the task had, nth the number of earlier rows of the file with this info. A task exists if it came with an
-- earlier import, if it is the project's own, or if there is one with this info that belongs to no other row.
CREATE FUNCTION match_exported_tasks(p_project bigint, p_rows jsonb) RETURNS TABLE (nth bigint, task_id bigint, known boolean) STABLE LANGUAGE sql AS $$
SELECT o, coalesce(x.task_id, own.id, t.id), x.task_id IS NOT NULL OR own.id IS NOT NULL
  FROM jsonb_array_elements(p_rows) WITH ORDINALITY u(e, o)
  LEFT JOIN LATERAL (
      SELECT y.task_id FROM task_origin y
       WHERE y.project_id = p_project AND y.source = (e->>'source')::bigint AND y.original = (e->>'original')::bigint LIMIT 1) x ON true
  LEFT JOIN LATERAL (
      SELECT y.id FROM task y
       WHERE (e->>'source')::bigint = p_project AND y.project_id = p_project AND y.id = (e->>'original')::bigint AND y.info = e->'info' LIMIT 1) own ON true
  LEFT JOIN LATERAL (
      SELECT y.id FROM task y WHERE x.task_id IS NULL AND own.id IS NULL AND y.project_id = p_project
         AND md5(y.info::text)::uuid = md5((e->'info')::text)::uuid
         AND NOT EXISTS (SELECT FROM task_origin z WHERE z.project_id = p_project AND z.task_id = y.id AND z.source = (e->>'source')::bigint)
       ORDER BY y.id OFFSET (e->>'nth')::bigint LIMIT 1) t ON true
 ORDER BY o $$;

-- Adds the tasks of an export that do not exist (all of them with p_again), and stores which task is which.
CREATE FUNCTION import_exported_tasks(p_project bigint, p_rows jsonb, p_again boolean, p_now timestamptz, OUT added bigint, OUT present bigint) LANGUAGE plpgsql AS $$
DECLARE numbered jsonb; missing jsonb := p_rows; ids bigint[];
BEGIN
    IF NOT p_again THEN
        -- Of rows with one info the second one asks for a second task of this info.
        SELECT jsonb_agg(e || jsonb_build_object('nth', CASE WHEN known THEN 0 ELSE before END) ORDER BY o) INTO numbered FROM (
            SELECT e, o, known, row_number() OVER (PARTITION BY known, md5((e->'info')::text) ORDER BY o) - 1 AS before FROM (
                SELECT e, o, m.known FROM jsonb_array_elements(p_rows) WITH ORDINALITY u(e, o)
                  JOIN match_exported_tasks(p_project, p_rows) m ON m.nth = u.o) k) n;
        SELECT jsonb_agg(u.e ORDER BY u.o) INTO missing FROM jsonb_array_elements(numbered) WITH ORDINALITY u(e, o)
          JOIN match_exported_tasks(p_project, numbered) m ON m.nth = u.o WHERE m.task_id IS NULL;
        INSERT INTO task_origin SELECT p_project, (u.e->>'source')::bigint, (u.e->>'original')::bigint, m.task_id
          FROM match_exported_tasks(p_project, numbered) m JOIN jsonb_array_elements(numbered) WITH ORDINALITY u(e, o) ON u.o = m.nth
         WHERE m.task_id IS NOT NULL AND NOT m.known ON CONFLICT DO NOTHING;
    END IF;
    added := coalesce(jsonb_array_length(missing), 0);
    present := jsonb_array_length(p_rows) - added;
    IF added = 0 THEN RETURN; END IF;
    ids := add_tasks(p_project, missing, p_now);
    INSERT INTO task_origin SELECT p_project, (f.e->>'source')::bigint, (f.e->>'original')::bigint, ids[f.o]
      FROM jsonb_array_elements(missing) WITH ORDINALITY f(e, o)
        ON CONFLICT (project_id, source, original) DO UPDATE SET task_id = excluded.task_id;
END $$;

-- What becomes of the answers of an export: added, present (imported before), no task (their task was not imported) or
-- other (their volunteer has another answer to the task). p_rows: {source, task, run, actor, …} each.
CREATE FUNCTION match_exported_answers(p_project bigint, p_rows jsonb) RETURNS TABLE (nth bigint, task_id bigint, fate text) STABLE LANGUAGE sql AS $$
SELECT o, coalesce(own.id, x.task_id), CASE
       WHEN r.id IS NOT NULL OR mine.id IS NOT NULL THEN 'present'
       WHEN own.id IS NULL AND x.task_id IS NULL THEN 'no task'
       WHEN EXISTS (SELECT FROM task_run a WHERE a.project_id = p_project AND a.task_id = coalesce(own.id, x.task_id) AND a.actor = ANY (actors_of(p_project, e->>'actor'))) THEN 'other'
       ELSE 'added' END
  FROM jsonb_array_elements(p_rows) WITH ORDINALITY u(e, o)
  LEFT JOIN LATERAL (
      SELECT y.task_id FROM task_origin y
       WHERE y.project_id = p_project AND y.source = (e->>'source')::bigint AND y.original = (e->>'task')::bigint LIMIT 1) x ON true
  LEFT JOIN LATERAL (
      SELECT y.id FROM task y WHERE (e->>'source')::bigint = p_project AND y.project_id = p_project AND y.id = (e->>'task')::bigint LIMIT 1) own ON true
  LEFT JOIN LATERAL (
      SELECT y.id FROM task_run y WHERE y.project_id = p_project AND y.origin = (e->>'source') || '/' || (e->>'run') LIMIT 1) r ON true
  LEFT JOIN LATERAL (
      SELECT y.id FROM task_run y WHERE own.id IS NOT NULL AND y.project_id = p_project AND y.id = (e->>'run')::bigint AND y.task_id = own.id LIMIT 1) mine ON true
 ORDER BY o $$;

-- Which result each result of an export fills in, and what becomes of it: added, updated (it had other info), present
-- (the same info), no task (its task was not imported), open (the task is not complete, or only by trial answers, which
-- are deleted) or earlier (a version that was replaced). In an export of the project itself, results are matched by id.
-- p_rows: {source, task, result, last, info} each.
CREATE FUNCTION match_exported_results(p_project bigint, p_rows jsonb) RETURNS TABLE (nth bigint, result_id bigint, fate text) STABLE LANGUAGE sql AS $$
SELECT o, r.id, CASE
       WHEN t.task_id IS NULL THEN 'no task'
       WHEN r.id IS NULL AND NOT (e->>'last')::boolean THEN 'earlier'
       WHEN r.id IS NULL OR r.passing THEN 'open'
       WHEN coalesce(e->'info', 'null') IN ('null', r.info) THEN 'present'
       WHEN r.info = 'null' THEN 'added'
       ELSE 'updated' END
  FROM jsonb_array_elements(p_rows) WITH ORDINALITY u(e, o)
  LEFT JOIN LATERAL (
      SELECT y.task_id FROM task_origin y
       WHERE y.project_id = p_project AND y.source = (e->>'source')::bigint AND y.original = (e->>'task')::bigint LIMIT 1) x ON true
  LEFT JOIN LATERAL (
      SELECT y.id FROM task y WHERE (e->>'source')::bigint = p_project AND y.project_id = p_project AND y.id = (e->>'task')::bigint LIMIT 1) own ON true
 CROSS JOIN LATERAL (SELECT coalesce(own.id, x.task_id) AS task_id) t
  LEFT JOIN LATERAL (
      SELECT y.id, coalesce(y.info, 'null') AS info,
             EXISTS (SELECT FROM project_ledger p JOIN task_run a USING (project_id)
                      WHERE p.project_id = p_project AND p.trial AND a.task_id = t.task_id AND a.counted AND a.trial) AS passing
        FROM result y WHERE y.project_id = p_project AND y.task_id = t.task_id
         AND (y.last_version AND (e->>'last')::boolean OR own.id IS NOT NULL AND y.id = (e->>'result')::bigint)
       ORDER BY own.id IS NOT NULL AND y.id = (e->>'result')::bigint DESC NULLS LAST LIMIT 1) r ON true
 ORDER BY o $$;

-- Stores answers of an export like submit, without leases. They are not trial answers, count as long as there are
-- places, and the tasks that they complete get a result but no event. Those of a volunteer who is barred are set aside. p_rows: {source, task, run, actor, uid, info,
-- created, finished, late, calibration, media_url} each. Returns one row for each, with its outcome as above.
CREATE FUNCTION import_exported_answers(p_project bigint, p_rows jsonb, p_now timestamptz) RETURNS TABLE (nth bigint, fate text) LANGUAGE plpgsql AS $$
DECLARE m record; t task_ledger; e jsonb; c int; last int; granted_ timestamptz; finished_ timestamptz; info_ jsonb; actors text[] := '{}'; o outcome;
        labelled boolean; bars boolean; judged record; w weighed; more int; class_ smallint; reliable boolean; bar_ bigint; run bigint;
BEGIN
    SELECT has_label, has_bars INTO labelled, bars FROM project_ledger WHERE project_id = p_project;
    FOR m IN SELECT DISTINCT a.task_id FROM match_exported_answers(p_project, p_rows) a WHERE a.fate = 'added' ORDER BY 1 LOOP
        PERFORM FROM task_ledger l WHERE l.project_id = p_project AND l.task_id = m.task_id FOR UPDATE;
    END LOOP;
    FOR m IN SELECT * FROM match_exported_answers(p_project, p_rows) a ORDER BY a.task_id, a.nth LOOP
        nth := m.nth; fate := m.fate;
        IF fate <> 'added' THEN RETURN NEXT; CONTINUE; END IF;
        e := p_rows->(m.nth - 1)::int;
        -- Two of one volunteer within these rows.
        IF EXISTS (SELECT FROM task_run a WHERE a.project_id = p_project AND a.task_id = m.task_id AND a.actor = ANY (actors_of(p_project, e->>'actor'))) THEN
            fate := 'other'; RETURN NEXT; CONTINUE;
        END IF;
        SELECT * INTO t FROM task_ledger l WHERE l.project_id = p_project AND l.task_id = m.task_id;
        granted_ := (e->>'created')::timestamptz; finished_ := (e->>'finished')::timestamptz; info_ := coalesce(e->'info', 'null');
        w := NULL; o := NULL; more := 0; class_ := NULL; reliable := true;
        IF labelled THEN
            SELECT * INTO judged FROM class_of(p_project, e->>'actor', info_);
            class_ := judged.class; reliable := judged.reliable;
        END IF;
        IF bars THEN SELECT min(id) INTO bar_ FROM barred_volunteer b WHERE b.project_id = p_project AND subject = e->>'actor'; END IF;
        c := (t.answers < t.n_answers AND NOT t.retired AND reliable AND bar_ IS NULL AND (t.mode = 'unlimited' OR t.answers + t.leases < t.n_answers))::int;
        INSERT INTO task_run (project_id, task_id, actor, external_uid, created, finish_time, counted, trial, timeout, calibration, media_url, info, class, unreliable, aside, origin)
        VALUES (p_project, m.task_id, e->>'actor', e->>'uid', granted_, finished_, c = 1, false, (e->>'late')::float8,
                (e->>'calibration')::bigint, e->>'media_url', info_, class_, NOT reliable, bar_, (e->>'source') || '/' || (e->>'run')) RETURNING id INTO run;
        IF t.mode = 'gold' THEN PERFORM judge_gold(r) FROM task_run r WHERE project_id = p_project AND id = run; END IF;
        UPDATE task_ledger l SET answers = answers + c, uncounted = uncounted + 1 - c,
               requeued_xid = CASE WHEN mode = 'one_at_a_time' OR (mode = 'by_level' AND c = 1) THEN stamp(p_project) ELSE requeued_xid END
         WHERE l.project_id = p_project AND l.task_id = m.task_id RETURNING * INTO t;
        last := (c = 1 AND NOT t.done AND is_complete(t.answers, t.n_answers))::int;
        IF last = 1 AND labelled THEN w := weigh(p_project, m.task_id); END IF;
        IF last = 1 AND stops(t, w) THEN
            o := complete(t, true, p_now, w);
            IF t.max_answers IS NOT NULL THEN more := t.answers - t.n_answers; END IF;
        ELSIF last = 1 THEN
            last := 0; more := wanted_so_far(t, w.min_answers) - t.n_answers;
            UPDATE task_ledger l SET n_answers = n_answers + more, requeued_xid = stamp(p_project) WHERE l.project_id = p_project AND l.task_id = m.task_id;
        END IF;
        INSERT INTO stat_delta (project_id, hour, actor, runs, counted, completed, wanted, seconds, bytes, outcomes, consensus_hash, n_compared, agreement)
        VALUES (p_project, date_trunc('hour', finished_), e->>'actor', 1, c, last, more, time_spent(granted_, finished_, (e->>'late')::float8),
                coalesce(octet_length(info_::text), 0), o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
        IF more > 0 AND t.uncounted > 0 THEN PERFORM reconcile_task(p_project, m.task_id, false, p_now); END IF;
        actors := actors || (e->>'actor');
        RETURN NEXT;
    END LOOP;
    PERFORM volunteer_word(p_project, a.actor) FROM (SELECT DISTINCT actor FROM unnest(actors) actor ORDER BY 1) a;
END $$;
