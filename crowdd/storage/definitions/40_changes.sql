-- What owners change while people work. Each function is consistent in itself; mass changes call them in chunks.

-- Removes positions that count no longer, but for those that somebody is just writing: he may wait for a task of ours.
CREATE FUNCTION forget_positions(p_project bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM position WHERE (project_id, actor, lane) IN (
        SELECT project_id, actor, lane FROM position WHERE project_id = p_project FOR UPDATE SKIP LOCKED);
END $$;

-- Adds tasks at the end of the project's order; those that sort before its end are brought back, so that volunteers who
-- are past that point meet them. One import at a time per project: ids that commit late would lie behind a position.
-- Of two tasks of a project the one with the higher id was never created earlier: the order of ids is that of created.
-- p_tasks: an array of {info, n_answers, priority_0, quorum, calibration}. Returns the ids in the order given.
CREATE FUNCTION add_tasks(p_project bigint, p_tasks jsonb, p_now timestamptz) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE p project_ledger; k int := jsonb_array_length(p_tasks); ids bigint[]; at timestamptz; m "char";
BEGIN
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    at := greatest(p_now, (SELECT created FROM task WHERE project_id = p_project ORDER BY id DESC LIMIT 1));
    m := mode_of(p.sched);
    ids := ARRAY(SELECT nextval(pg_get_serial_sequence('task', 'id')) FROM generate_series(1, k));
    INSERT INTO task (id, project_id, created, info, quorum, calibration)
    SELECT ids[o], p_project, at, e->'info', (e->>'quorum')::bigint, (e->>'calibration')::bigint
      FROM jsonb_array_elements(p_tasks) WITH ORDINALITY u(e, o) ORDER BY o;
    INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, mode, priority_0, entered)
    SELECT p_project, ids[o], p.n_ordinals + o, (e->>'n_answers')::int, m, (e->>'priority_0')::float8,
           CASE WHEN m = 'b' OR p.two_way OR -(e->>'priority_0')::float8 < p.max_rank THEN stamp(p_project) END
      FROM jsonb_array_elements(p_tasks) WITH ORDINALITY u(e, o) ORDER BY o;
    UPDATE project_ledger SET n_ordinals = n_ordinals + k,
           max_rank = greatest(max_rank, (SELECT max(-(e->>'priority_0')::float8) FROM jsonb_array_elements(p_tasks) e))
     WHERE project_id = p_project;
    INSERT INTO stat_delta (project_id, hour, tasks, wanted)
    SELECT p_project, date_trunc('hour', p_now), k, sum((e->>'n_answers')::bigint) FROM jsonb_array_elements(p_tasks) e HAVING k > 0;
    RETURN ids;
END $$;

-- Changes n_answers of some tasks; returns how many had another value.
CREATE FUNCTION set_redundancy(p_project bigint, p_tasks bigint[], p_n int, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE t record; k int := 0; more bigint := 0;
BEGIN
    FOR t IN SELECT task_id, n_answers FROM task_ledger
              WHERE project_id = p_project AND task_id = ANY (p_tasks) AND n_answers <> p_n ORDER BY task_id FOR UPDATE LOOP
        UPDATE task_ledger SET n_answers = p_n WHERE project_id = p_project AND task_id = t.task_id;
        PERFORM settle(p_project, t.task_id, false, p_now);
        k := k + 1;
        more := more + p_n - t.n_answers;
    END LOOP;
    IF k > 0 THEN
        INSERT INTO stat_delta (project_id, hour, wanted) VALUES (p_project, date_trunc('hour', p_now), more);
    END IF;
    RETURN k;
END $$;

-- Changes the priority of some tasks; they are brought back, since they may now sort before somebody's position. Who holds
-- one of these tasks holds project_ledger, too: the end of the order may move.
CREATE FUNCTION set_priority(p_project bigint, p_tasks bigint[], p_priority float8) RETURNS int LANGUAGE plpgsql AS $$
DECLARE k int;
BEGIN
    UPDATE project_ledger SET max_rank = -p_priority WHERE project_id = p_project AND max_rank < -p_priority;
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) ORDER BY task_id FOR UPDATE;
    UPDATE task_ledger SET priority_0 = p_priority, entered = stamp(p_project)
     WHERE project_id = p_project AND task_id = ANY (p_tasks) AND priority_0 <> p_priority;
    GET DIAGNOSTICS k = ROW_COUNT;
    RETURN k;
END $$;

-- Deletes tasks with everything that hangs on them; returns how many there were.
CREATE FUNCTION delete_tasks(p_project bigint, p_tasks bigint[], p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE ids bigint[];
BEGIN
    SELECT array_agg(l.task_id) INTO ids FROM (
        SELECT task_id FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) ORDER BY task_id FOR UPDATE) l;
    IF ids IS NULL THEN RETURN 0; END IF;
    INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, seconds)
    SELECT p_project, date_trunc('hour', finish_time), actor, CASE WHEN NOT trial THEN user_id END, -count(*),
           -count(*) FILTER (WHERE counted), -sum(extract(epoch FROM finish_time - created))
      FROM task_run WHERE project_id = p_project AND task_id = ANY (ids) GROUP BY 2, 3, 4;
    INSERT INTO stat_delta (project_id, hour, tasks, wanted, completed)
    SELECT p_project, date_trunc('hour', p_now), -count(*), -sum(n_answers), -count(*) FILTER (WHERE done)
      FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM lease WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM past_lease WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_run WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM result WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM favourite WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task WHERE project_id = p_project AND id = ANY (ids);
    RETURN cardinality(ids);
END $$;

-- Opens a project: the first time the trial runs go and every task starts anew; later it ends a pause. Testers keep their
-- leases, so that an answer on its way counts. False: it is published already.
CREATE FUNCTION publish(p_project bigint, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE p project_ledger;
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project FOR UPDATE;    -- no import meanwhile
    IF NOT FOUND OR NOT (p.trial OR p.paused) THEN RETURN false; END IF;
    IF p.trial THEN
        PERFORM FROM task_ledger WHERE project_id = p_project ORDER BY task_id FOR UPDATE;      -- nor an answer
        DELETE FROM task_run WHERE project_id = p_project;
        DELETE FROM result WHERE project_id = p_project;
        DELETE FROM past_lease WHERE project_id = p_project;
        PERFORM forget_positions(p_project);
        UPDATE task_ledger SET answers = 0, extra = 0, done = false, entered = CASE mode WHEN 'b' THEN stamp(p_project) END WHERE project_id = p_project;
        PERFORM forget_answers(p_project);
    END IF;
    UPDATE project_ledger SET trial = false, paused = false, epoch = epoch + p.trial::int WHERE project_id = p_project;
    UPDATE project SET published = true, first_published = coalesce(first_published, p_now), updated = p_now WHERE id = p_project;
    RETURN true;
END $$;

-- Pauses a published project: answers stay, live leases may still be answered, no new ones. False: nothing to pause.
CREATE FUNCTION pause(p_project bigint, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
    UPDATE project_ledger SET paused = true WHERE project_id = p_project AND NOT trial AND NOT paused;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE project SET published = false, updated = p_now WHERE id = p_project;
    RETURN true;
END $$;

-- Changes how tasks are chosen: every task gets the new mode, positions start anew. Where everybody may answer, leases hold
-- no places, so that late answers may find one.
CREATE FUNCTION set_scheduler(p_project bigint, p_sched text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE was "char"; m "char" := mode_of(p_sched); t bigint;
BEGIN
    SELECT mode_of(sched) INTO was FROM project_ledger WHERE project_id = p_project AND sched <> p_sched FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM FROM task_ledger WHERE project_id = p_project AND mode <> m ORDER BY task_id FOR UPDATE;
    UPDATE task_ledger SET mode = m, entered = CASE m WHEN 'b' THEN stamp(p_project) END WHERE project_id = p_project AND mode <> m;
    IF was <> m THEN
        FOR t IN SELECT task_id FROM task_ledger WHERE project_id = p_project AND extra > 0 ORDER BY task_id LOOP
            PERFORM settle(p_project, t, false, p_now);
        END LOOP;
    END IF;
    UPDATE project_ledger SET sched = p_sched, epoch = epoch + 1 WHERE project_id = p_project;
    PERFORM forget_positions(p_project);
END $$;

-- Deletes a project with everything in it. False: there is none.
CREATE FUNCTION delete_project(p_project bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM project WHERE id = p_project FOR UPDATE;
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM FROM task_ledger WHERE project_id = p_project ORDER BY task_id FOR UPDATE;
    PERFORM take_scores_back(p_project);
    PERFORM forget_positions(p_project);
    DELETE FROM lease WHERE project_id = p_project;
    DELETE FROM past_lease WHERE project_id = p_project;
    DELETE FROM favourite WHERE project_id = p_project;
    PERFORM pg_advisory_xact_lock(hashtextextended('events', p_project));
    DELETE FROM event WHERE project_id = p_project;
    DELETE FROM event_sequence WHERE project_id = p_project;
    DELETE FROM result WHERE project_id = p_project;
    DELETE FROM task_run WHERE project_id = p_project;
    DELETE FROM task_ledger WHERE project_id = p_project;
    DELETE FROM task WHERE project_id = p_project;
    PERFORM drop_stats(p_project);
    DELETE FROM project_ledger WHERE project_id = p_project;
    DELETE FROM project WHERE id = p_project;
    RETURN true;
END $$;
