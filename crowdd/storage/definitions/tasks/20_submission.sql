-- Answers: storing one, what it completes, what becomes of a task when places become free.
--
-- Invariants (docs/interface/tasks.md; tests/ledger looks for each):
--   I1 task_ledger.answers = its counted runs; .uncounted = its other runs; .leases = its rows in lease
--   I2 counted runs + leases <= n_answers (or what it was before it was lowered; mode unlimited: counted runs only)
--   I3 one run per person and task; nobody holds a lease on a task that they have answered
--   I4 done <=> is_complete (answers >= n_answers); a done task has one last result, whose task_run_ids are its counted runs
--      and whose agreement is that of their values (27_agreement.sql), unless the project is due to be compared again
--   I5 one event per result version of a published project; the first is task_completed, later ones result_updated
--   I6 no uncounted run while a place is free, but of a retired task, set aside by an owner, or of a network that has its
--      share of the task (22_networks.sql)
--   I7 a volunteer who has neither answered nor leased an open task meets it again, unless their network has its share of it
--   I8 counted runs + leases of a network's anonymous volunteers <= counted_per_network, unless it was lowered or runs
--      changed hands
--
-- Lock order: the volunteer (advisory; next_tasks, lease_task and release_task only) -> project -> project_ledger -> ledger
-- rows by task id -> that task's leases, runs, results. Everything about a task changes only under its ledger row lock.
-- Outside this order rows are taken with SKIP LOCKED, and next_tasks waits for a row only while it holds no other but
-- positions, for which nobody waits.

-- The stamp of this transaction. A scan ordered by stamps is followed up to the oldest transaction still running, never
-- beyond, so that no stamp that commits late is skipped.
CREATE FUNCTION stamp(p_project bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN pg_current_xact_id()::text::bigint + (SELECT xid_base FROM project_ledger WHERE project_id = p_project);
END $$;

-- Whether a task has what it needs. The one place that decides: gold tasks and stopping rules would come in here, with what they
-- know of the answers as further columns of the ledger.
CREATE FUNCTION is_complete(p_counted int, p_wanted int) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$ SELECT p_counted >= p_wanted $$;

-- Columns of stat_delta: a new last result and what it says (51_outcomes.sql).
CREATE TYPE outcome AS (outcomes int, consensus_hash bigint, n_compared int, agreement real);

-- What values say together: the columns of result (27_agreement.sql). Without values n_compared is 0 and the rest null; n_compared
-- null: they are still to be compared.
CREATE TYPE said AS (consensus jsonb, consensus_hash bigint, n_compared int, agreement real, confidence real);

-- Marks the task done: a result of exactly the counted runs with what they say together, and its event. The caller holds the
-- ledger row, and appends the columns that it gets to stat_delta; rows of further answer fields are appended here. Reads n_answers
-- runs once per completion, which is why the ledger needs no list of run ids. Trials emit no event.
CREATE FUNCTION complete(t task_ledger, p_trial boolean, p_now timestamptz) RETURNS outcome LANGUAGE plpgsql AS $$
DECLARE v int; res bigint; ids bigint[]; users jsonb; answers jsonb[]; fields jsonb; names text[]; further jsonb; s said; o outcome; said_by_name jsonb;
BEGIN
    SELECT coalesce(max(version), 0) + 1 INTO v FROM result WHERE project_id = t.project_id AND task_id = t.task_id;
    IF v > 1 THEN UPDATE result SET last_version = false WHERE project_id = t.project_id AND task_id = t.task_id AND last_version; END IF;
    SELECT array_agg(run ORDER BY run), coalesce(jsonb_agg(user_id ORDER BY run) FILTER (WHERE user_id IS NOT NULL), '[]'), array_agg(value ORDER BY value),
           (SELECT answer_fields FROM project WHERE id = t.project_id), (SELECT answer_names FROM project WHERE id = t.project_id)
      INTO ids, users, answers, fields, names FROM answer_values(t.project_id, t.task_id);
    s := CASE WHEN fields IS NULL THEN most_frequent(answers) ELSE first_consensus(fields, answers) END;
    IF jsonb_array_length(fields) > 1 THEN
        further := further_consensus(fields, ARRAY(SELECT info FROM task_run WHERE project_id = t.project_id AND task_id = t.task_id AND counted));
        INSERT INTO stat_delta (project_id, hour, outcomes, field, consensus_hash, n_compared, agreement, value)
        SELECT t.project_id, date_trunc('hour', p_now), 1, f.* FROM further_outcomes(further) f;
    END IF;
    INSERT INTO result (project_id, task_id, version, last_version, task_run_ids, created, consensus, consensus_hash, n_compared, agreement, confidence, further)
    VALUES (t.project_id, t.task_id, v, true, ids, p_now, s.consensus, s.consensus_hash, s.n_compared, s.agreement, s.confidence, further) RETURNING id INTO res;
    o := (1, s.consensus_hash, s.n_compared, s.agreement);
    UPDATE task_ledger SET done = true WHERE project_id = t.project_id AND task_id = t.task_id;
    IF fields IS NOT NULL THEN PERFORM compare_later(t.project_id, t.task_id, res, true); END IF;
    IF p_trial THEN RETURN o; END IF;
    IF names IS NOT NULL THEN said_by_name := consensus_by_name(names, s, further); END IF;
    INSERT INTO event (project_id, kind, task_id, result_id, at, data)
    VALUES (t.project_id, CASE v WHEN 1 THEN 'task_completed' ELSE 'result_updated' END, t.task_id, res, p_now,
            jsonb_build_object('user_ids', users) || CASE WHEN octet_length(said_by_name::text) <= 2000 THEN jsonb_build_object('consensus', said_by_name) ELSE '{}' END);
    RETURN o;
END $$;

-- Puts a task right after places became free, n_answers changed or a counted run went (p_gone): counts the oldest late
-- answers first, completes or re-opens, and brings the task back to the volunteers.
CREATE FUNCTION reconcile_task(p_project bigint, p_task bigint, p_gone boolean, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t task_ledger; was boolean; k int := 0; free int; o outcome;
BEGIN
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task;
    was := t.done;
    free := t.n_answers - t.answers - t.leases * (t.mode <> 'unlimited')::int;
    IF t.uncounted > 0 AND free > 0 AND NOT t.retired THEN k := count_late(p_project, p_task, free); END IF;
    UPDATE task_ledger SET answers = answers + k, uncounted = uncounted - k, requeued_xid = stamp(p_project)
     WHERE project_id = p_project AND task_id = p_task RETURNING * INTO t;
    IF t.done AND (k > 0 OR p_gone OR NOT is_complete(t.answers, t.n_answers)) THEN
        UPDATE task_ledger SET done = false WHERE project_id = p_project AND task_id = p_task RETURNING * INTO t;
    END IF;
    IF p_gone THEN
        UPDATE result SET last_version = false WHERE project_id = p_project AND task_id = p_task AND last_version;
    END IF;
    IF NOT t.done AND is_complete(t.answers, t.n_answers) THEN
        o := complete(t, (SELECT trial FROM project_ledger WHERE project_id = p_project), p_now);
        t.done := true;
    END IF;
    IF t.done <> was OR k > 0 OR o.outcomes = 1 THEN
        INSERT INTO stat_delta (project_id, hour, counted, completed, outcomes, consensus_hash, n_compared, agreement)
        VALUES (p_project, date_trunc('hour', p_now), k, CASE WHEN t.retired THEN 0 ELSE t.done::int - was::int END,
                o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
    END IF;
END $$;

-- Stores one answer and says what became of it: counted, late, surplus (its network has its share), duplicate (run: the one
-- that is there), no lease, no task, barred. A refusal changes nothing. granted and timeout are those of the lease. p_ip: the
-- network of an anonymous volunteer. No bitmap scans, as in next_tasks.
CREATE FUNCTION submit(p_project bigint, p_actor text, p_task bigint, p_user bigint, p_ip text, p_external text, p_info jsonb,
                       p_calibration bigint, p_media_url text, p_now timestamptz,
                       OUT state text, OUT run bigint, OUT granted timestamptz, OUT late_seconds double precision)
LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
DECLARE t task_ledger; l record; held boolean; c int; last int; is_trial boolean; maximum int; bars boolean; surplus boolean := false; whose bigint; asked boolean; owns boolean; anonymous boolean := coalesce(p_ip, '') <> '' AND p_actor ~ '^[ci]:'; o outcome;
BEGIN
    -- First the lock: every later statement then sees all that came before. A volunteer who tries a draft holds its project, too, or
    -- publishing would have to lock every task.
    -- Both kinds of leases in one statement: a lease becomes an expired one within one transaction.
    SELECT trial, counted_per_network, has_bars,
           CASE WHEN p_user IS NOT NULL THEN (SELECT owners_ids @> ARRAY[p_user] FROM project WHERE id = p_project) END,
           EXISTS (SELECT FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task)
           OR EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task)
      INTO is_trial, maximum, bars, owns, asked FROM project_ledger WHERE project_id = p_project;
    IF is_trial THEN SELECT trial INTO is_trial FROM project_ledger WHERE project_id = p_project FOR SHARE; END IF;
    IF bars AND is_barred(p_project, p_actor, p_ip) THEN state := 'barred'; RETURN; END IF;
    IF asked IS NOT TRUE THEN                           -- volunteers who never asked for the task lock nothing
        SELECT id INTO run FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = p_actor;
        state := CASE WHEN FOUND THEN 'duplicate'
                      WHEN EXISTS (SELECT FROM task_ledger WHERE project_id = p_project AND task_id = p_task) THEN 'no lease' ELSE 'no task' END;
        IF is_trial IS NULL THEN state := 'no task'; run := NULL; END IF;
        RETURN;
    END IF;
    -- An owner's answer does not score: the deletion of the project waits for it, for the sweep takes away what everybody scored.
    IF is_trial IS FALSE AND owns IS NOT TRUE THEN whose := p_user; END IF;
    IF NOT is_trial AND p_user IS NOT NULL AND whose IS NULL THEN
        PERFORM FROM project WHERE id = p_project FOR KEY SHARE;
        IF NOT FOUND THEN state := 'no task'; RETURN; END IF;
        whose := scorer(p_project, p_user, is_trial);
    END IF;
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    IF NOT FOUND OR is_trial IS NULL THEN state := 'no task'; RETURN; END IF;
    IF anonymous AND maximum > 0 THEN
        DELETE FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task
        RETURNING lease.granted, expires, network,
                  (SELECT count(*) FROM task_run WHERE user_ip = p_ip AND project_id + 0 = p_project AND -task_id = -p_task AND counted)
                + (SELECT count(*) FROM lease o WHERE network = p_ip AND project_id + 0 = p_project AND -task_id = -p_task AND actor ~ '^[ci]:')
                - (network = p_ip)::int AS share INTO l;
        held := FOUND; surplus := held AND l.share >= maximum;
    ELSE
        DELETE FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task RETURNING lease.granted, expires, network INTO l;
        held := FOUND;
    END IF;
    IF NOT held THEN
        DELETE FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task RETURNING expired_lease.granted, expires, '' AS network INTO l;
        IF NOT FOUND THEN
            SELECT id INTO run FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = p_actor;
            state := CASE WHEN FOUND THEN 'duplicate' ELSE 'no lease' END;
            RETURN;
        END IF;
        surplus := anonymous AND maximum > 0 AND network_share(p_project, p_task, p_ip, false) >= maximum;
    END IF;
    c := (t.answers < t.n_answers AND NOT t.retired AND NOT surplus AND (held OR t.mode = 'unlimited' OR t.answers + t.leases < t.n_answers))::int;
    granted := l.granted;
    late_seconds := CASE WHEN p_now > l.expires THEN extract(epoch FROM p_now - l.expires) END;
    INSERT INTO task_run (project_id, task_id, actor, user_id, user_ip, external_uid, created, finish_time, counted, trial, timeout, calibration, media_url, info)
    VALUES (p_project, p_task, p_actor, p_user, nullif(p_ip, ''), p_external, l.granted, p_now, c = 1, is_trial, late_seconds, p_calibration, p_media_url, p_info)
    RETURNING id INTO run;
    UPDATE task_ledger SET answers = answers + c, leases = leases - held::int, uncounted = uncounted + 1 - c,
           requeued_xid = CASE WHEN mode = 'one_at_a_time' OR (mode = 'by_level' AND held::int <> c) THEN stamp(p_project) ELSE requeued_xid END
     WHERE project_id = p_project AND task_id = p_task RETURNING * INTO t;
    last := (c = 1 AND NOT t.done AND is_complete(t.answers, t.n_answers))::int;
    IF last = 1 THEN o := complete(t, is_trial, p_now); END IF;
    INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, completed, seconds, bytes, outcomes, consensus_hash, n_compared, agreement)
    VALUES (p_project, date_trunc('hour', p_now), p_actor, whose, 1, c, last, time_spent(l.granted, p_now, late_seconds),
            coalesce(octet_length(p_info::text), 0), o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
    IF held AND (surplus OR anonymous AND l.network <> p_ip) THEN PERFORM reconcile_task(p_project, p_task, false, p_now); END IF;
    state := CASE WHEN c = 1 THEN 'counted' WHEN surplus THEN 'surplus' ELSE 'late' END;
END $$;

-- How long after it was stored an answer may still be changed when its task has its result already.
CREATE FUNCTION correction_window() RETURNS interval IMMUTABLE LANGUAGE sql AS $$ SELECT interval '5 minutes' $$;

-- Puts another answer in the place of the one that a volunteer gave: changed, same (it says so already), in result (its task
-- has its result, and the time for second thoughts is over), none (no answer) or barred. Counters stay as they are: it is
-- the same answer, given when it was given. A result that the old one stood in becomes a version behind a new one (I4, I5).
CREATE FUNCTION amend_answer(p_project bigint, p_actor text, p_task bigint, p_info jsonb, p_now timestamptz, p_network text DEFAULT '',
                            OUT state text, OUT run bigint) LANGUAGE plpgsql AS $$
DECLARE t task_ledger; r task_run; is_trial boolean; bars boolean; o outcome;
BEGIN
    SELECT trial, has_bars INTO is_trial, bars FROM project_ledger WHERE project_id = p_project;
    IF is_trial THEN SELECT trial INTO is_trial FROM project_ledger WHERE project_id = p_project FOR SHARE; END IF;
    IF bars AND is_barred(p_project, p_actor, p_network) THEN state := 'barred'; RETURN; END IF;
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    SELECT * INTO r FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = p_actor;
    IF NOT FOUND THEN state := 'none'; RETURN; END IF;
    run := r.id;
    IF r.info IS NOT DISTINCT FROM p_info THEN state := 'same'; RETURN; END IF;
    IF t.done AND r.counted AND p_now > r.finish_time + correction_window() THEN state := 'in result'; RETURN; END IF;
    UPDATE task_run SET info = p_info WHERE project_id = p_project AND id = r.id;
    IF t.done AND r.counted THEN
        o := complete(t, is_trial, p_now);
        INSERT INTO stat_delta (project_id, hour, outcomes, consensus_hash, n_compared, agreement)
        VALUES (p_project, date_trunc('hour', p_now), o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
    END IF;
    state := 'changed';
END $$;

-- Deletes an answer; a counted one re-opens its task and makes its result no longer the last. False: there is none.
CREATE FUNCTION delete_run(p_project bigint, p_run bigint, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE r task_run; t task_ledger;
BEGIN
    SELECT * INTO r FROM task_run WHERE project_id = p_project AND id = p_run;
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id FOR UPDATE;
    DELETE FROM task_run WHERE project_id = p_project AND id = p_run RETURNING * INTO r;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE task_ledger SET answers = answers - r.counted::int, uncounted = uncounted - 1 + r.counted::int WHERE project_id = p_project AND task_id = r.task_id;
    INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, seconds, wanted)
    VALUES (p_project, date_trunc('hour', r.finish_time), r.actor, scorer(p_project, r.user_id, r.trial), -1, -r.counted::int,
            -time_spent(r.created, r.finish_time, r.timeout), -(r.counted AND t.retired)::int);
    PERFORM reconcile_task(p_project, r.task_id, r.counted, p_now);
    RETURN true;
END $$;
