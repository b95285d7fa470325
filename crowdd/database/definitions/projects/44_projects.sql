-- Whole projects, while people work. What would take too long for one transaction is done in steps: clear_trials and
-- sweep_project process a limited number of rows, convert_tasks goes through tasks by id.

-- Deletes the trial answers of some tasks of a draft and lets these tasks start again: at most p_most answers, but all
-- of each task. Imported answers are not trials and stay. Returns how many answers there were.
CREATE FUNCTION clear_trials(p_project bigint, p_maximum int, p_now timestamptz) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE ids bigint[]; n bigint; r record;
BEGIN
    PERFORM FROM project_ledger WHERE project_id = p_project AND trial FOR UPDATE;          -- no answer meanwhile
    IF NOT FOUND THEN RETURN 0; END IF;
    ids := ARRAY(SELECT DISTINCT task_id FROM (SELECT task_id FROM task_run WHERE project_id = p_project AND trial ORDER BY task_id LIMIT p_maximum) r ORDER BY 1);
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ids) ORDER BY task_id FOR UPDATE;
    INSERT INTO stat_delta (project_id, hour, actor, runs, counted, seconds)
    SELECT p_project, date_trunc('hour', finish_time), actor, -count(*), -count(*) FILTER (WHERE counted), -sum(time_spent(created, finish_time, timeout))
      FROM task_run WHERE project_id = p_project AND task_id = ANY (ids) AND trial GROUP BY 2, 3;
    INSERT INTO stat_delta (project_id, hour, completed, wanted)
    SELECT p_project, date_trunc('hour', p_now), -count(*) FILTER (WHERE done AND NOT retired),
           -coalesce(sum(answers) FILTER (WHERE retired), 0)
           + (SELECT count(*) FROM task_run x JOIN task_ledger l USING (project_id, task_id)
               WHERE x.project_id = p_project AND x.task_id = ANY (ids) AND x.counted AND NOT x.trial AND l.retired)
      FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ids);
    DELETE FROM task_run WHERE project_id = p_project AND task_id = ANY (ids) AND trial;
    GET DIAGNOSTICS n = ROW_COUNT;
    DELETE FROM result WHERE project_id = p_project AND task_id = ANY (ids);
    UPDATE task_ledger SET answers = 0, uncounted = 0, done = false, requeued_xid = stamp(p_project), changed_xid = change_stamp()
     WHERE project_id = p_project AND task_id = ANY (ids);
    PERFORM reconcile_task(p_project, task_id, false, p_now) FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ids) AND max_answers IS NOT NULL;
    FOR r IN SELECT task_id, count(*) FILTER (WHERE counted) AS counted, count(*) FILTER (WHERE NOT counted) AS late
               FROM task_run WHERE project_id = p_project AND task_id = ANY (ids) GROUP BY 1 ORDER BY 1 LOOP
        UPDATE task_ledger SET answers = r.counted, uncounted = r.late WHERE project_id = p_project AND task_id = r.task_id;
        PERFORM reconcile_task(p_project, r.task_id, false, p_now);
    END LOOP;
    RETURN n;
END $$;

-- Publishes a project. The first time, trial answers are deleted and every task starts again; later it ends a pause.
-- Testers keep their leases, so that answers in progress count. False: it is already published.
CREATE FUNCTION publish(p_project bigint, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE p project_ledger;
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project FOR UPDATE;    -- no import meanwhile, nor an answer
    IF NOT FOUND OR NOT (p.trial OR p.paused) THEN RETURN false; END IF;
    IF p.trial THEN
        WHILE clear_trials(p_project, 10000, p_now) > 0 LOOP END LOOP;
        DELETE FROM expired_lease WHERE project_id = p_project;
        PERFORM forget_positions(p_project);
    END IF;
    UPDATE project_ledger SET trial = false, paused = false, draft_key = NULL, epoch = epoch + p.trial::int WHERE project_id = p_project;
    IF p.trial AND (p.has_label OR (SELECT answer_fields->0->>'type' = 'labels' FROM project WHERE id = p_project)) THEN                     -- answers that were imported teach from now on
        INSERT INTO agreement_due (project_id) SELECT p_project WHERE EXISTS (SELECT FROM result WHERE project_id = p_project) ON CONFLICT DO NOTHING;
    END IF;
    UPDATE project SET published = true, draft_key = NULL, first_published = coalesce(first_published, p_now), updated = p_now WHERE id = p_project;
    IF p.trial AND NOT EXISTS (SELECT FROM task_run WHERE project_id = p_project) THEN PERFORM forget_answers(p_project); END IF;
    RETURN true;
END $$;

-- Pauses a published project: answers stay, current leases can still be answered, no new ones are granted. False: it is
-- not published.
CREATE FUNCTION pause(p_project bigint, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
    UPDATE project_ledger SET paused = true WHERE project_id = p_project AND NOT trial AND NOT paused;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE project SET published = false, updated = p_now WHERE id = p_project;
    RETURN true;
END $$;

-- Changes the scheduler: every task after p_after gets the new mode (those before have it), and positions start again.
-- False: nothing changes.
CREATE FUNCTION set_scheduler(p_project bigint, p_sched text, p_now timestamptz, p_after bigint DEFAULT 0) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE last bigint := p_after; was text;
BEGIN
    SELECT sched INTO was FROM project_ledger WHERE project_id = p_project AND sched <> p_sched FOR UPDATE;          -- no import meanwhile
    IF NOT FOUND THEN RETURN false; END IF;
    IF was = 'changing' OR mode_of(was) <> mode_of(p_sched) THEN
        WHILE last IS NOT NULL LOOP last := convert_tasks(p_project, p_sched, last, 1000, p_now); END LOOP;
    END IF;
    UPDATE project_ledger SET sched = p_sched, epoch = epoch + 1 WHERE project_id = p_project;
    PERFORM forget_positions(p_project);
    RETURN true;
END $$;

-- The same for a project with many tasks, in steps: this function, then convert_tasks until it returns null, then
-- set_scheduler for tasks that were added in the meantime. Until then tasks are handed out one after the other, which
-- works for tasks of any mode. A task that is returned behind a volunteer may reach them only after the end.
CREATE FUNCTION begin_scheduler(p_project bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE project_ledger SET sched = 'changing', epoch = epoch + 1 WHERE project_id = p_project AND sched <> 'changing';
END $$;

-- Gives the next p_most tasks after one the mode of a scheduler, and returns the last of them, null at the end. Where
-- everybody may answer, leases hold no places, so late answers may find one. A task that returns for another reason is
-- stamped. Tasks that are open to all volunteers who are past them need no stamp, because positions start again at the
-- end.
CREATE FUNCTION convert_tasks(p_project bigint, p_sched text, p_after bigint, p_maximum int, p_now timestamptz) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE m assignment_mode := mode_of(p_sched); ids bigint[]; t bigint; last bigint;
BEGIN
    ids := ARRAY(SELECT task_id FROM task_ledger WHERE project_id = p_project AND task_id > p_after ORDER BY task_id LIMIT p_maximum);
    last := ids[cardinality(ids)];                      -- some may be deleted while the next statement waits for their rows
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ids) AND mode NOT IN (m, 'gold') ORDER BY task_id FOR UPDATE;
    WITH changed AS (
        UPDATE task_ledger SET mode = m, requeued_xid = CASE m WHEN 'by_level' THEN stamp(p_project) END
         WHERE project_id = p_project AND task_id = ANY (ids) AND mode NOT IN (m, 'gold') RETURNING task_id, uncounted, leases, max_answers, done)
    SELECT array_agg(task_id ORDER BY task_id) FILTER (WHERE uncounted > 0 OR leases > 1 AND max_answers IS NOT NULL AND NOT done) INTO ids FROM changed;
    FOREACH t IN ARRAY coalesce(ids, '{}') LOOP
        PERFORM reconcile_task(p_project, t, false, p_now);
    END LOOP;
    RETURN last;
END $$;

-- Deletes a project: it and everything in it disappear at once. sweep_project deletes the remaining rows. False: it
-- does not exist.
CREATE FUNCTION delete_project(p_project bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM project WHERE id = p_project FOR UPDATE;
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM add_to_scores(p_project, (SELECT owners_ids FROM project WHERE id = p_project), 1);       -- the sweep takes everybody's away
    PERFORM pg_advisory_xact_lock(hashtextextended('events', p_project));
    DELETE FROM event WHERE project_id = p_project AND seq IS NULL;
    DELETE FROM event_sequence WHERE project_id = p_project;
    DELETE FROM notice WHERE project_id = p_project;
    DELETE FROM project_ledger WHERE project_id = p_project;
    DELETE FROM project WHERE id = p_project;
    RETURN true;
END $$;

-- Deletes the next rows that a deleted project left: 500 tasks with their rows, or 5,000 rows of another kind. Returns
-- how many rows of that kind there were; 0: nothing is left.
CREATE FUNCTION sweep_project(p_project bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE ids bigint[]; n bigint;
BEGIN
    ids := ARRAY(SELECT task_id FROM task_ledger WHERE project_id = p_project ORDER BY task_id LIMIT 500 FOR UPDATE);
    IF ids <> '{}' THEN
        INSERT INTO stat_delta (project_id, hour, user_id, runs)
        SELECT 0, 'epoch', user_id, -count(*) FROM task_run
         WHERE project_id = p_project AND task_id = ANY (ids) AND user_id IS NOT NULL AND NOT trial GROUP BY 3;
        PERFORM clear_tasks(p_project, ids);
        RETURN cardinality(ids);
    END IF;
    DELETE FROM event WHERE project_id = p_project AND id IN (SELECT id FROM event WHERE project_id = p_project ORDER BY id LIMIT 5000);
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM delivery WHERE project_id = p_project AND id IN (SELECT id FROM delivery WHERE project_id = p_project ORDER BY id LIMIT 5000);
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM analysis WHERE project_id = p_project;                              -- first: a chunk that is being stored needs it
    DELETE FROM analysis_task WHERE ctid = ANY (ARRAY(SELECT ctid FROM analysis_task WHERE project_id = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM analysis_volunteer WHERE ctid = ANY (ARRAY(SELECT ctid FROM analysis_volunteer WHERE project_id = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM reliability WHERE ctid = ANY (ARRAY(SELECT ctid FROM reliability WHERE project_id = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM tombstone WHERE ctid = ANY (ARRAY(SELECT ctid FROM tombstone WHERE project_id = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM past_row WHERE ctid = ANY (ARRAY(SELECT ctid FROM past_row WHERE project_id = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM task_source WHERE ctid = ANY (ARRAY(SELECT ctid FROM task_source WHERE (project_id + 0) = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM chain_source WHERE ctid = ANY (ARRAY(SELECT ctid FROM chain_source WHERE (project_id + 0) = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM change_feed WHERE project_id = p_project;
    DELETE FROM evidence WHERE project_id = p_project;
    DELETE FROM event_sequence WHERE project_id = p_project;
    DELETE FROM task_key_name WHERE project_id = p_project;
    DELETE FROM position WHERE (project_id, actor, scan) IN (
        SELECT project_id, actor, scan FROM position WHERE project_id = p_project ORDER BY actor, scan LIMIT 5000);
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    PERFORM unlink_actors(actor, other, project_id) FROM (SELECT * FROM same_person WHERE project_id = p_project AND p_project <> 0 AND actor < other LIMIT 1000) l;
    IF FOUND THEN RETURN 1; END IF;
    DELETE FROM volunteer_word WHERE ctid = ANY (ARRAY(SELECT ctid FROM volunteer_word WHERE project_id = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    PERFORM lock_stats();
    DELETE FROM volunteer_day WHERE ctid = ANY (ARRAY(SELECT ctid FROM volunteer_day WHERE project_id = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN RETURN n; END IF;
    DELETE FROM volunteer WHERE ctid = ANY (ARRAY(SELECT ctid FROM volunteer WHERE project_id = p_project LIMIT 5000));
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n = 0 THEN PERFORM drop_stats(p_project); END IF;
    RETURN n;
END $$;
