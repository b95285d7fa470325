-- Changes that owners make to tasks while people work. Each function leaves the data consistent. Mass changes call them
-- for chunks of tasks in the order of ids, one transaction each (crowdd/features/tasks/changes.py). Previews are in
-- 46_previews.sql.

-- Removes positions that no longer apply, except those that another transaction is writing: it may be waiting for one
-- of our tasks.
CREATE FUNCTION forget_positions(p_project bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM position WHERE (project_id, actor, scan) IN (
        SELECT project_id, actor, scan FROM position WHERE project_id = p_project FOR UPDATE SKIP LOCKED);
END $$;

-- A task that is to be added, and its right answer; null: it is no gold task.
CREATE TYPE new_task AS (info jsonb, n_answers int, priority_0 float8, quorum bigint, calibration bigint, gold jsonb);

-- Adds tasks at the end of the project's order. Tasks that sort before its end are stamped as returned, so that
-- volunteers who are past that point find them. One import at a time per project: ids that commit late would be behind
-- a position. Of two tasks of a project, the one with the higher id was never created earlier, so the order of ids is
-- that of created. Returns the ids in the given order. A task with its right answer becomes a gold task at once.
--
-- All that is the same for all tasks is looked up once, because a file may have a million. rank, open and level are those of
-- set_ledger_columns(), whose trigger leaves out rows that have them.
CREATE FUNCTION insert_tasks(p_project bigint, p_tasks new_task[], p_now timestamptz) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE p project_ledger; k int := cardinality(p_tasks); ids bigint[]; at timestamptz; m assignment_mode; least_ int; added bigint; g record;
        changed bigint; stamped bigint; sequence regclass := pg_get_serial_sequence('task', 'id');
BEGIN
    IF EXISTS (SELECT FROM unnest(p_tasks) t WHERE t.gold IS NOT NULL) THEN PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE; END IF;
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    at := greatest(p_now, (SELECT created FROM task WHERE project_id = p_project ORDER BY id DESC LIMIT 1));
    m := mode_of(p.sched); changed := change_stamp(); stamped := stamp(p_project);
    IF p.has_label THEN least_ := first_wanted(p_project); END IF;
    ids := ARRAY(SELECT nextval(sequence) FROM generate_series(1, k));
    INSERT INTO task (id, project_id, created, info, quorum, calibration)
    SELECT t.id, p_project, at, coalesce(t.info, 'null'), t.quorum, t.calibration
      FROM unnest(ids, p_tasks) t(id);
    WITH narrow AS (
        INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, max_answers, mode, priority_0, rank, open, level, changed_xid, requeued_xid)
        SELECT p_project, t.id, p.n_ordinals + t.ordinality, CASE WHEN t.n_answers <= 50 AND least_ < t.n_answers THEN least_ ELSE t.n_answers END,
               CASE WHEN t.n_answers <= 50 AND least_ IS NOT NULL THEN t.n_answers END, m, t.priority_0, -t.priority_0, m = 'unlimited' OR t.n_answers > 0,
               CASE m WHEN 'by_level' THEN 0 END, changed,
               CASE WHEN m = 'by_level' OR p.two_way OR -t.priority_0 < p.max_rank THEN stamped END
          FROM unnest(ids, p_tasks) WITH ORDINALITY t(id)
        RETURNING n_answers)
    SELECT sum(n_answers) INTO added FROM narrow;
    UPDATE project_ledger SET n_ordinals = n_ordinals + k, max_rank = greatest(max_rank, (SELECT max(-t.priority_0) FROM unnest(p_tasks) t))
     WHERE project_id = p_project;
    INSERT INTO stat_delta (project_id, hour, tasks, wanted) SELECT p_project, date_trunc('hour', p_now), k, added WHERE k > 0;
    FOR g IN SELECT t.gold, t.ordinality FROM unnest(p_tasks) WITH ORDINALITY t
              WHERE t.gold IS NOT NULL ORDER BY t.ordinality LOOP
        PERFORM make_gold(p_project, ids[g.ordinality], gold_cell(p_project, g.gold), NULL, NULL, NULL, p_now);
    END LOOP;
    RETURN ids;
END $$;

-- The same for an array of {info, n_answers, priority_0, quorum, calibration, gold}.
CREATE FUNCTION add_tasks(p_project bigint, p_tasks jsonb, p_now timestamptz) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN insert_tasks(p_project, ARRAY(SELECT t FROM jsonb_populate_recordset(NULL::new_task, p_tasks) t), p_now);
END $$;

-- How many tasks a change affects, and how many of them and of their answers change.
CREATE TYPE effect AS (tasks bigint, completed bigint, reopened bigint, answers bigint);

-- The number of answers that a retired task needs: none. It counts as completed.
CREATE FUNCTION wanted(t task_ledger) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN t.retired THEN t.answers ELSE t.n_answers END $$;

-- Changes n_answers of some tasks, where it differs. With adaptive redundancy it is the most that a task gets: one that was
-- complete because it was sure, or because somebody decided, stays complete.
CREATE FUNCTION set_redundancy(p_project bigint, p_tasks bigint[], p_n int, p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE t task_ledger; is_done boolean; e effect := (0, 0, 0, 0); more bigint := 0; least_ int := first_wanted(p_project); n int;
BEGIN
    FOR t IN SELECT * FROM task_ledger
              WHERE project_id = p_project AND task_id = ANY (p_tasks) AND coalesce(max_answers, n_answers) <> p_n ORDER BY task_id FOR UPDATE LOOP
        n := redundancy_to(t, p_n, least_);
        PERFORM keep_version('task_ledger', to_jsonb(t), false);
        UPDATE task_ledger SET n_answers = n, max_answers = CASE WHEN n <> p_n OR least_ IS NOT NULL AND p_n <= 50 THEN p_n END, changed_xid = change_stamp()
         WHERE project_id = p_project AND task_id = t.task_id;
        PERFORM reconcile_task(p_project, t.task_id, false, p_now);
        SELECT done INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = t.task_id;
        e.tasks := e.tasks + 1;
        e.completed := e.completed + (is_done AND NOT t.done)::int;
        e.reopened := e.reopened + (t.done AND NOT is_done)::int;
        IF NOT t.retired THEN more := more + n - t.n_answers; END IF;
    END LOOP;
    IF more <> 0 THEN
        INSERT INTO stat_delta (project_id, hour, wanted) VALUES (p_project, date_trunc('hour', p_now), more);
    END IF;
    RETURN e;
END $$;

-- Checks tasks whose uncounted answers may count now, because the limit was raised.
CREATE FUNCTION recount(p_project bigint, p_tasks bigint[], p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE t task_ledger; is_done boolean; e effect := (0, 0, 0, 0);
BEGIN
    FOR t IN SELECT * FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) AND uncounted > 0 ORDER BY task_id FOR UPDATE LOOP
        PERFORM reconcile_task(p_project, t.task_id, false, p_now);
        SELECT done INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = t.task_id;
        e.tasks := e.tasks + 1;
        e.completed := e.completed + (is_done AND NOT t.done)::int;
    END LOOP;
    RETURN e;
END $$;

-- Changes the priority of some tasks. They are stamped as returned, because they may now sort before somebody's
-- position. The caller also holds project_ledger, because the end of the order may move.
CREATE FUNCTION set_priority(p_project bigint, p_tasks bigint[], p_priority float8) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE e effect := (0, 0, 0, 0);
BEGIN
    UPDATE project_ledger SET max_rank = -p_priority WHERE project_id = p_project AND max_rank < -p_priority;
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) ORDER BY task_id FOR UPDATE;
    PERFORM keep_version('task_ledger', to_jsonb(l), false) FROM task_ledger l
     WHERE project_id = p_project AND task_id = ANY (p_tasks) AND priority_0 <> p_priority;
    UPDATE task_ledger SET priority_0 = p_priority, requeued_xid = stamp(p_project), changed_xid = change_stamp()
     WHERE project_id = p_project AND task_id = ANY (p_tasks) AND priority_0 <> p_priority;
    GET DIAGNOSTICS e.tasks = ROW_COUNT;
    RETURN e;
END $$;

-- Retires tasks: they are no longer handed out, and answers that still arrive are stored as late ones. Tasks that are
-- already retired stay unchanged. p_reason: retired, cancelled or skipped.
CREATE FUNCTION retire(p_project bigint, p_tasks bigint[], p_reason text, p_note text, p_user bigint, p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE t task_ledger; e effect := (0, 0, 0, 0); less bigint := 0; closed int := 0;
BEGIN
    FOR t IN SELECT * FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) AND NOT retired ORDER BY task_id FOR UPDATE LOOP
        WITH gone AS (DELETE FROM lease WHERE project_id = p_project AND task_id = t.task_id RETURNING *)
        INSERT INTO expired_lease SELECT project_id, actor, task_id, granted, p_now, false FROM gone;
        UPDATE task_ledger SET retired = true, leases = 0, changed_xid = change_stamp() WHERE project_id = p_project AND task_id = t.task_id;
        INSERT INTO retirement VALUES (p_project, t.task_id, p_reason, p_note, p_user, p_now);
        e.tasks := e.tasks + 1;
        less := less + t.n_answers - t.answers;
        closed := closed + 1 - t.done::int;
    END LOOP;
    IF e.tasks > 0 THEN
        INSERT INTO stat_delta (project_id, hour, wanted, completed) VALUES (p_project, date_trunc('hour', p_now), -less, closed);
    END IF;
    RETURN e;
END $$;

-- Counts that a volunteer has skipped a task, once for each: for which reason, but not who gave it. True: so many people have skipped it
-- (info.skip_limit) that it is retired until an owner has looked at it.
CREATE FUNCTION count_skip(p_project bigint, p_actor text, p_task bigint, p_reason text, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE t task_ledger; maximum int;
BEGIN
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    INSERT INTO task_skip_by (project_id, task_id, actor) SELECT p_project, t.task_id, p_actor WHERE t.task_id IS NOT NULL ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO task_skip AS s (project_id, task_id, reason, n) VALUES (p_project, p_task, p_reason, 1)
        ON CONFLICT (project_id, task_id, reason) DO UPDATE SET n = s.n + 1;
    SELECT CASE WHEN jsonb_typeof(info->'skip_limit') = 'number' THEN (info->>'skip_limit')::int END INTO maximum FROM project WHERE id = p_project;
    IF t.done OR t.retired OR coalesce(maximum, 0) = 0 OR (SELECT count(*) FROM task_skip_by WHERE project_id = p_project AND task_id = p_task) < maximum THEN RETURN false; END IF;
    PERFORM retire(p_project, ARRAY[p_task], 'skipped', '', NULL, p_now);
    RETURN true;
END $$;

-- Puts retired tasks back, but no gold tasks (end_gold). reopened: those that need answers again. Others are complete, perhaps because of late
-- answers that count now.
CREATE FUNCTION reopen(p_project bigint, p_tasks bigint[], p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE t task_ledger; is_done boolean; e effect := (0, 0, 0, 0);
BEGIN
    FOR t IN SELECT * FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) AND retired AND mode <> 'gold' ORDER BY task_id FOR UPDATE LOOP
        UPDATE task_ledger SET retired = false, changed_xid = change_stamp() WHERE project_id = p_project AND task_id = t.task_id;
        IF EXISTS (SELECT FROM retirement WHERE project_id = p_project AND task_id = t.task_id AND reason = 'skipped') THEN     -- looked at: skips count from the start
            DELETE FROM task_skip WHERE project_id = p_project AND task_id = t.task_id;
            DELETE FROM task_skip_by WHERE project_id = p_project AND task_id = t.task_id;
        END IF;
        DELETE FROM retirement WHERE project_id = p_project AND task_id = t.task_id;
        INSERT INTO stat_delta (project_id, hour, wanted, completed)
        VALUES (p_project, date_trunc('hour', p_now), t.n_answers - t.answers, t.done::int - 1);
        PERFORM reconcile_task(p_project, t.task_id, false, p_now);
        SELECT done INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = t.task_id;
        e.tasks := e.tasks + 1;
        e.completed := e.completed + (is_done AND NOT t.done)::int;
        e.reopened := e.reopened + (NOT is_done)::int;
    END LOOP;
    RETURN e;
END $$;

-- Deletes a volunteer's answers to some tasks and releases their leases of them, as if the volunteer had never come. The history keeps
-- that there were answers, without what they said. Who had skipped some of the tasks has passed them: their positions start again (I7).
CREATE FUNCTION withdraw(p_project bigint, p_tasks bigint[], p_actor text, p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE r record; t task_ledger; is_done boolean; e effect := (0, 0, 0, 0); runs bigint[];
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));
    FOR r IN SELECT l.task_id FROM unnest(p_tasks) l(task_id)
              WHERE EXISTS (SELECT FROM task_run x WHERE x.project_id = p_project AND x.task_id = l.task_id AND x.actor = p_actor)
                 OR EXISTS (SELECT FROM lease x WHERE x.project_id = p_project AND x.actor = p_actor AND x.task_id = l.task_id) ORDER BY 1 LOOP
        SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        DELETE FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = r.task_id;
        IF FOUND THEN
            UPDATE task_ledger SET leases = leases - 1 WHERE project_id = p_project AND task_id = r.task_id;
            PERFORM reconcile_task(p_project, r.task_id, false, p_now);
        END IF;
        SELECT array_agg(x.id), e.answers + count(delete_run(p_project, x.id, p_now)) INTO runs, e.answers FROM task_run x
         WHERE x.project_id = p_project AND x.task_id = r.task_id AND x.actor = p_actor;
        PERFORM strip_versions(p_project, runs);
        SELECT done INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id;
        e.tasks := e.tasks + 1;
        e.completed := e.completed + (is_done AND NOT t.done)::int;
        e.reopened := e.reopened + (t.done AND NOT is_done)::int;
    END LOOP;
    IF EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND task_id = ANY (p_tasks) AND skipped) THEN
        DELETE FROM position WHERE project_id = p_project AND actor = p_actor;
    END IF;
    DELETE FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND task_id = ANY (p_tasks);
    RETURN e;
END $$;

-- Deletes tasks with everything that belongs to them.
CREATE FUNCTION delete_tasks(p_project bigint, p_tasks bigint[], p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE ids bigint[]; e effect := (0, 0, 0, 0);
BEGIN
    IF EXISTS (SELECT FROM gold_task WHERE project_id = p_project AND task_id = ANY (p_tasks)) THEN
        PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
        PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    END IF;
    SELECT array_agg(l.task_id) INTO ids FROM (
        SELECT task_id FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) ORDER BY task_id FOR UPDATE) l;
    IF ids IS NULL THEN RETURN e; END IF;
    INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, seconds)
    SELECT p_project, date_trunc('hour', finish_time), actor, scorer(p_project, user_id, trial), -count(*),
           -count(*) FILTER (WHERE counted), -sum(time_spent(created, finish_time, timeout))
      FROM task_run WHERE project_id = p_project AND task_id = ANY (ids) GROUP BY 2, 3, 4;
    INSERT INTO stat_delta (project_id, hour, tasks, wanted, completed)
    SELECT p_project, date_trunc('hour', p_now), -count(*) FILTER (WHERE mode <> 'gold'), -sum(wanted(l)), -count(*) FILTER (WHERE (done OR retired) AND mode <> 'gold')
      FROM task_ledger l WHERE project_id = p_project AND task_id = ANY (ids);
    PERFORM unteach(p_project, task_id) FROM result WHERE project_id = p_project AND task_id = ANY (ids) AND last_version AND generation IS NOT NULL;
    e.tasks := cardinality(ids);
    e.answers := clear_tasks(p_project, ids);
    RETURN e;
END $$;

-- Deletes the rows of tasks that are locked, and returns how many answers there were.
CREATE FUNCTION clear_tasks(p_project bigint, ids bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    PERFORM forget_gold(p_project, ids);
    DELETE FROM lease WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM expired_lease WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_run WHERE project_id = p_project AND task_id = ANY (ids);
    GET DIAGNOSTICS n = ROW_COUNT;
    DELETE FROM result WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM favourite WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM collection_item WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_comment WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM retirement WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_skip WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_skip_by WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_key WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_origin WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM sample_task WHERE project_id = p_project AND task_id = ANY (ids);
    UPDATE task_source SET task_id = NULL WHERE task_id = ANY (ids) AND project_id = p_project;
    DELETE FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task WHERE project_id = p_project AND id = ANY (ids);
    RETURN n;
END $$;
