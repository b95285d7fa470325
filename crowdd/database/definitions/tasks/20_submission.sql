-- Answers: storing one, what it completes, what becomes of a task when places become free.
--
-- Invariants (docs/interface/tasks.md; tests/ledger looks for each):
--   I1 task_ledger.answers = its counted runs; .uncounted = its other runs; .leases = its rows in lease
--   I2 counted runs + leases <= n_answers (or what it was before it was lowered; mode unlimited: counted runs only)
--   I3 one run per volunteer and task; nobody holds a lease on a task that they have answered
--   I4 done <=> is_complete (answers >= n_answers), but of a gold task, which is done or not as it was when it became one; a done task has one last result, whose task_run_ids are its counted runs
--      and whose agreement is that of their values (27_agreement.sql), unless the project is due to be compared again
--   I5 one event per result version of a published project; the first is task_completed, later ones result_updated
--   I6 no uncounted run while a place is free, but of a retired or gold task, set aside, of a network that has its
--      share of the task (22_networks.sql), or of a volunteer who was known to be no better than chance (53_posterior.sql)
--   I7 a volunteer who has neither leased an open task nor, by any of their actors (23_same_person.sql), answered it meets it again, unless
--      their network has its share of it
--   I8 counted runs + leases of a network's anonymous volunteers <= counted_per_network, unless it was lowered or runs
--      changed hands
--   I9 while redundancy is adaptive, an open task wants what wanted_so_far says; a done one has as many answers as it wants
--   I10 evidence, folded or not = the answers with a class in last results that have taught (result.generation)
--   I11 of what two linked volunteers (23_same_person.sql) have answered to a task at most one counts, once a job has looked at the link
--
-- Lock order: links (advisory; unlink_all waits for them, all others only try) -> the volunteer (advisory; who asks, gives back, moves or
-- withdraws answers) -> project -> project_ledger -> ledger
-- rows by task id -> that task's leases, runs, results. Everything about a task changes only under its ledger row lock.
-- Outside this order rows are taken with SKIP LOCKED, and next_tasks waits for a row only while it holds no other but
-- positions, for which nobody waits.

-- The stamp of this transaction. A scan ordered by stamps is followed up to the oldest transaction still running, never
-- beyond, so that no stamp that commits late is skipped.
CREATE FUNCTION stamp(p_project bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN pg_current_xact_id()::text::bigint + (SELECT xid_base FROM project_ledger WHERE project_id = p_project);
END $$;

-- Whether a task has what it wants. With adaptive redundancy that is what it wants so far, and stops() decides whether it is all.
CREATE FUNCTION is_complete(p_counted int, p_wanted int) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$ SELECT p_counted >= p_wanted $$;

-- Columns of stat_delta: a new last result and what it says (51_outcomes.sql).
CREATE TYPE outcome AS (outcomes int, consensus_hash bigint, n_compared int, agreement real);

-- What values say together: the columns of result (27_agreement.sql). Without values n_compared is 0 and the rest null; n_compared
-- null: they are still to be compared.
CREATE TYPE said AS (consensus jsonb, consensus_hash bigint, n_compared int, agreement real, confidence real);

-- What the counted answers of a task amount to where they have classes (53_posterior.sql). teaches: the project is published. users and
-- runs are of all counted answers, actors and classes of those with a class; so are said (null: it has no class), accuracies and shares of a vote, in
-- the order of runs. wanted: the confidence at which tasks stop. measured: the confidence by what was measured; null: nothing was. enough: adaptive redundancy ends here, unless answers are to come. ruled: the project
-- has rules; rule: the one that completes the task, {name, version} (58_task_rules.sql). Without a label all is null.
CREATE TYPE weighed AS (generation int, teaches boolean, min_answers int, runs bigint[], users jsonb, actors text[], classes smallint[], posterior real[],
                        log_likelihoods real[], class smallint, confidence real, choice jsonb, sure boolean, enough boolean,
                        said smallint[], accuracies real[], shares real[], wanted real, measured real, ruled boolean, rule jsonb);

-- Whether a task that has what it wants so far has all it needs.
CREATE FUNCTION stops(t task_ledger, w weighed) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT (t).max_answers IS NULL OR (t).answers >= (t).max_answers OR (w).enough IS TRUE AND (t).answers >= coalesce((t).least_answers, 0) $$;

-- What a task wants so far while redundancy is adaptive: the first p_minimum answers, then one at a time. Null: the rule was switched off.
CREATE FUNCTION wanted_so_far(t task_ledger, p_minimum int) RETURNS int IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_minimum IS NULL THEN (t).max_answers
            ELSE least((t).max_answers, greatest(p_minimum, (t).least_answers, (t).answers + CASE (t).mode WHEN 'unlimited' THEN 1 ELSE greatest((t).leases, 1) END)) END $$;

-- Marks the task done: a result of exactly the counted runs with what they say together, and its event. The caller holds the
-- ledger row, whose answers and leases are written as t has them, and appends the columns that it gets to stat_delta; rows of further answer fields are appended here. Reads n_answers
-- runs once per completion, which is why the ledger needs no list of run ids. p_quiet: no event, as for trials. w: what the answers amount to
-- (weigh). p_changed: the position of this transaction, where the caller knows it.
CREATE FUNCTION complete(t task_ledger, p_quiet boolean, p_now timestamptz, w weighed DEFAULT NULL, p_changed bigint DEFAULT NULL) RETURNS outcome LANGUAGE plpgsql AS $$
DECLARE changed bigint := coalesce(p_changed, change_stamp()); v int; res bigint; ids bigint[]; users jsonb; answers jsonb[]; fields jsonb; names text[]; further jsonb; s said; o outcome; said_by_name jsonb; reason text; spared int; l record;
BEGIN
    SELECT coalesce(max(version), 0) + 1 INTO v FROM result WHERE project_id = t.project_id AND task_id = t.task_id;
    IF v > 1 THEN
        PERFORM unteach(t.project_id, t.task_id);
        UPDATE result SET last_version = false WHERE project_id = t.project_id AND task_id = t.task_id AND last_version;
    END IF;
    SELECT answer_fields, answer_names INTO fields, names FROM project WHERE id = t.project_id;
    IF w.generation IS NULL THEN
        SELECT array_agg(run ORDER BY run), coalesce(jsonb_agg(user_id ORDER BY run) FILTER (WHERE user_id IS NOT NULL), '[]'), array_agg(value ORDER BY value) FILTER (WHERE value IS NOT NULL)
          INTO ids, users, answers FROM answer_values(t.project_id, t.task_id);
        IF fields->0->>'type' = 'labels' THEN
            SELECT * INTO l FROM weigh_labels(t.project_id, fields->0, ids);
            s := l.says; w.posterior := l.posterior; w.log_likelihoods := l.rights;
        ELSE
            s := CASE WHEN fields IS NULL THEN most_frequent(answers) ELSE first_consensus(fields, answers) END;
        END IF;
    ELSE
        ids := w.runs; users := w.users; s := said_by_classes(w.classes, w.choice, w.confidence);
        reason := CASE WHEN w.posterior IS NULL THEN 'none' WHEN w.sure AND t.max_answers IS NOT NULL THEN 'sure' ELSE 'full' END;
    END IF;
    IF jsonb_array_length(fields) > 1 THEN
        further := further_consensus(fields, ARRAY(SELECT info FROM task_run WHERE project_id = t.project_id AND task_id = t.task_id AND counted));
        INSERT INTO stat_delta (project_id, hour, outcomes, field, consensus_hash, n_compared, agreement, value)
        SELECT t.project_id, date_trunc('hour', p_now), 1, f.* FROM further_outcomes(further) f;
    END IF;
    spared := greatest(0, t.max_answers - t.answers);
    INSERT INTO result (project_id, task_id, version, last_version, task_run_ids, created, consensus, consensus_hash, n_compared, agreement, confidence, further,
                        generation, class, posterior, log_likelihoods, weighed_by, reason, saved, changed_xid, completed_xid)
    VALUES (t.project_id, t.task_id, v, true, ids, p_now, s.consensus, s.consensus_hash, s.n_compared, s.agreement, s.confidence, further,
            CASE WHEN w.teaches THEN w.generation END, w.class, w.posterior, w.log_likelihoods,
            weighing_of(w) || jsonb_build_object('min_answers', w.min_answers, 'confidence', w.wanted, 'measured', w.measured, 'max_answers', coalesce(t.max_answers, t.n_answers))
                || CASE WHEN w.rule IS NULL THEN '{}' ELSE jsonb_build_object('rule', w.rule) END,
            reason, coalesce(spared, 0), changed, CASE WHEN t.done THEN 0 ELSE changed END) RETURNING id INTO res;
    IF w.teaches THEN
        INSERT INTO evidence (project_id, task_id, generation, sign, actors, classes, posterior, reason, saved)
        VALUES (t.project_id, t.task_id, w.generation, 1, w.actors, w.classes, w.posterior, reason, coalesce(spared, 0));
    END IF;
    IF w.generation IS NULL AND w.posterior IS NOT NULL THEN PERFORM teach(t.project_id, t.task_id); END IF;
    o := (1, s.consensus_hash, s.n_compared, s.agreement);
    UPDATE task_ledger SET done = true, answers = t.answers, leases = t.leases, n_answers = CASE WHEN t.max_answers IS NULL THEN n_answers ELSE t.answers END WHERE project_id = t.project_id AND task_id = t.task_id;
    IF fields IS NOT NULL THEN PERFORM compare_later(t.project_id, t.task_id, res, true); END IF;
    IF v > 1 OR w.ruled THEN PERFORM review_by_rules(t, w, v > 1, p_now); END IF;
    IF p_quiet THEN RETURN o; END IF;
    IF names IS NOT NULL THEN said_by_name := consensus_by_name(names, s, further, CASE WHEN reason IS NOT NULL OR w.posterior IS NOT NULL THEN jsonb_build_object('confidence', w.measured, 'model', s.confidence) END); END IF;
    INSERT INTO event (project_id, kind, task_id, result_id, at, data)
    VALUES (t.project_id, CASE v WHEN 1 THEN 'task_completed' ELSE 'result_updated' END, t.task_id, res, p_now,
            jsonb_build_object('user_ids', users) || CASE WHEN octet_length(said_by_name::text) <= 2000 THEN jsonb_build_object('consensus', said_by_name) ELSE '{}' END
            || CASE WHEN reason IS NULL THEN '{}' ELSE jsonb_build_object('label', s.consensus, 'confidence', w.measured, 'model', s.confidence, 'reason', reason) END
            || CASE WHEN w.rule IS NULL THEN '{}' ELSE jsonb_build_object('rule', w.rule) END);
    RETURN o;
END $$;

-- Puts a task right after places became free, n_answers changed or a counted run went (p_gone): counts the oldest late
-- answers first, completes or re-opens, and brings the task back to the volunteers. With adaptive redundancy it is decided again whether
-- the task has enough, once nobody is at it; each further answer that it wants may be a late one. A retired task is not weighed. Who lets a
-- counted run go takes back what it taught before (unteach).
CREATE FUNCTION reconcile_task(p_project bigint, p_task bigint, p_gone boolean, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t task_ledger; was task_ledger; p record; w weighed; k int := 0; n int; free int; stop boolean := false; weighing boolean; ruled boolean; f record; o outcome;
BEGIN
    SELECT trial, has_label, has_rules INTO p FROM project_ledger WHERE project_id = p_project;
    SELECT * INTO was FROM task_ledger WHERE project_id = p_project AND task_id = p_task;
    t := was;
    LOOP
        n := 0;
        free := t.n_answers - t.answers - t.leases * (t.mode <> 'unlimited')::int;
        IF t.uncounted > 0 AND free > 0 AND NOT t.retired THEN n := count_late(p_project, p_task, free); END IF;
        UPDATE task_ledger SET answers = answers + n, uncounted = uncounted - n, requeued_xid = stamp(p_project)
         WHERE project_id = p_project AND task_id = p_task RETURNING * INTO t;
        k := k + n;
        IF t.done AND (k > 0 OR p_gone OR t.mode <> 'gold' AND NOT is_complete(t.answers, t.n_answers)) THEN
            PERFORM keep_version('task_ledger', to_jsonb(t) || '{"reopens": true}', true);
            UPDATE task_ledger SET done = false, changed_xid = change_stamp() WHERE project_id = p_project AND task_id = p_task RETURNING * INTO t;
        END IF;
        weighing := t.max_answers IS NOT NULL AND NOT t.done AND NOT t.retired;
        ruled := p.has_rules AND p.has_label AND NOT p.trial AND NOT t.done AND NOT t.retired AND t.mode <> 'gold' AND t.answers > 0 AND t.n_answers <= 50;
        EXIT WHEN NOT weighing AND NOT ruled;
        w := weigh(p_project, p_task); n := t.n_answers;
        IF ruled THEN
            f := follow_rules(t, w, p_now); t := f.t; w := f.w; stop := w.rule IS NOT NULL;
            EXIT WHEN stop;
        END IF;
        IF weighing THEN
            stop := stops(t, w) AND (is_complete(t.answers, t.n_answers) OR t.leases = 0 AND t.mode <> 'unlimited');
            EXIT WHEN stop;
            IF wanted_so_far(t, w.min_answers) <> t.n_answers THEN
                UPDATE task_ledger SET n_answers = wanted_so_far(t, w.min_answers) WHERE project_id = p_project AND task_id = p_task RETURNING * INTO t;
            END IF;
        END IF;
        EXIT WHEN t.n_answers = n OR t.uncounted = 0 AND NOT is_complete(t.answers, t.n_answers);           -- it has enough where the most was lowered
    END LOOP;
    IF p_gone THEN
        UPDATE result SET last_version = false WHERE project_id = p_project AND task_id = p_task AND last_version;
    END IF;
    IF NOT t.done AND t.mode <> 'gold' AND (stop OR NOT weighing AND is_complete(t.answers, t.n_answers)) THEN
        IF p.has_label AND w.generation IS NULL THEN w := weigh(p_project, p_task); END IF;
        o := complete(t, p.trial, p_now, w);
        t.done := true;
        IF t.max_answers IS NOT NULL THEN t.n_answers := t.answers; END IF;
    END IF;
    IF t.done <> was.done OR k > 0 OR o.outcomes = 1 OR t.n_answers <> was.n_answers AND NOT t.retired THEN
        INSERT INTO stat_delta (project_id, hour, counted, completed, wanted, outcomes, consensus_hash, n_compared, agreement)
        VALUES (p_project, date_trunc('hour', p_now), k, CASE WHEN t.retired THEN 0 ELSE t.done::int - was.done::int END,
                CASE WHEN t.retired THEN 0 ELSE t.n_answers - was.n_answers END, o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
    END IF;
END $$;

-- Stores one answer and says what became of it: counted, late, surplus (its network has its share), unreliable (its volunteer is no better
-- than chance), duplicate (run: the one that is there, of any of their actors), no lease, no task, barred. A refusal changes nothing, but that
-- leases go of a task that the person has answered. granted and timeout are those of the lease, which may be one that they have as another
-- of their actors. p_change_base: as change_base() says, where the caller knows it. p_ip: the
-- network of an anonymous volunteer. p_also as in next_tasks. No bitmap scans, as there.
CREATE FUNCTION submit(p_project bigint, p_actor text, p_task bigint, p_user bigint, p_ip text, p_external text, p_info jsonb,
                       p_calibration bigint, p_media_url text, p_now timestamptz, p_change_base bigint DEFAULT NULL, p_also text DEFAULT NULL,
                       p_circumstances jsonb DEFAULT NULL,
                       OUT state text, OUT run bigint, OUT granted timestamptz, OUT late_seconds double precision)
LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
DECLARE t task_ledger; l record; held boolean; c int; last int; is_trial boolean; maximum int; bars boolean; surplus boolean; whose bigint; asked boolean; owns boolean; anonymous boolean; o outcome;
        labelled boolean; ruled boolean; f record; a record; class_ smallint; reliable boolean; w weighed; wanted int; more int; changed bigint; actors text[]; plain boolean; current boolean;
BEGIN
    -- What most answers come to: the volunteer holds a lease, the answer counts, and the project has none of the rules that need more. One
    -- statement reads the facts and locks the task, as current is explained at take_next (32_candidate_scan.sql). Below the same is done
    -- for every answer, in single steps. The row of a task that has what it wants so far is written when it is decided whether that is all.
    -- Both kinds of leases in one statement: a lease becomes an expired one within one transaction.
    SELECT trial, counted_per_network, has_bars, has_label, has_label AND has_rules AND NOT trial, sched <> 'incremental' AND NOT (trial OR has_bars OR has_label AND has_rules)
               AND CASE n_gold WHEN 0 THEN true ELSE NOT EXISTS (SELECT FROM gold_task g WHERE g.project_id = p_project AND g.task_id = p_task) END AS plain,
           CASE WHEN p_user IS NOT NULL THEN (SELECT owners_ids @> ARRAY[p_user] FROM project WHERE id = p_project) END,
           EXISTS (SELECT FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task)
           OR EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task)
      INTO is_trial, maximum, bars, labelled, ruled, plain, owns, asked FROM project_ledger WHERE project_id = p_project;
    IF plain AND asked AND owns IS NOT TRUE THEN
        SELECT mine.answers + 1 = mine.n_answers AS full, e.granted, e.expires, e.network, seen.ctid = mine.ctid AS current,
               coalesce(p_change_base, (SELECT change_base FROM cluster)) AS base,
               p_also IS NOT NULL OR EXISTS (SELECT FROM same_person WHERE actor = p_actor AND project_id IN (0, p_project)) AS linked
          INTO a FROM lease e
          JOIN task_ledger seen ON seen.project_id = p_project AND seen.task_id = p_task
          JOIN task_ledger mine ON mine.project_id = p_project AND mine.task_id = p_task
         WHERE e.project_id = p_project AND e.actor = p_actor AND e.task_id = p_task
           AND NOT seen.retired AND NOT seen.done AND seen.mode NOT IN ('gold', 'one_at_a_time') AND mine.answers < mine.n_answers
           AND CASE WHEN p_ip <> '' AND p_actor ~ '^[ci]:' THEN e.network = p_ip AND CASE WHEN maximum > 0 THEN (SELECT true FROM (
                    SELECT FROM task_run x WHERE x.user_ip = p_ip AND x.project_id + 0 = p_project AND -x.task_id = -p_task AND x.counted UNION ALL
                    SELECT FROM lease x WHERE x.network = p_ip AND x.project_id + 0 = p_project AND -x.task_id = -p_task AND x.actor ~ '^[ci]:') s
                    OFFSET maximum LIMIT 1) IS NULL ELSE true END
                    ELSE true END
           FOR UPDATE OF mine;
        current := a.current;
    END IF;
    IF current THEN IF a.linked THEN                    -- under the lock, so that of two actors at once one sees the other's answer
        actors := proven_actors(p_project, p_actor, p_also, p_now);
        current := NOT EXISTS (SELECT FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = ANY (actors))
                 AND NOT EXISTS (SELECT FROM lease WHERE project_id = p_project AND task_id = p_task AND actor = ANY (actors[2:]))
                 AND NOT EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND task_id = p_task AND actor = ANY (actors[2:]));
    END IF; END IF;
    IF current THEN IF labelled THEN                    -- after the lock, so that all answers are read by one declaration (follow_label)
        SELECT * INTO f FROM class_of(p_project, p_actor, p_info);
        class_ := f.class; current := f.reliable;
    END IF; END IF;
    IF current THEN
        WITH held AS (DELETE FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task),
             total AS (UPDATE task_ledger SET answers = answers + 1, leases = leases - 1 WHERE project_id = p_project AND task_id = p_task AND NOT a.full),
             figures AS (INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, seconds, bytes)
                SELECT p_project, date_trunc('hour', p_now), p_actor, p_user, 1, 1,
                       time_spent(a.granted, p_now, CASE WHEN p_now > a.expires THEN extract(epoch FROM p_now - a.expires) END), coalesce(octet_length(p_info::text), 0)
                 WHERE NOT a.full)
        INSERT INTO task_run (project_id, task_id, actor, user_id, user_ip, external_uid, created, finish_time, counted, timeout, calibration, media_url, info, class, changed_xid, circumstances)
        VALUES (p_project, p_task, p_actor, p_user, nullif(p_ip, ''), p_external, a.granted, p_now, true, CASE WHEN p_now > a.expires THEN extract(epoch FROM p_now - a.expires) END,
                p_calibration, p_media_url, p_info, class_, pg_current_xact_id()::text::bigint + a.base, p_circumstances)
        RETURNING id, 'counted', a.granted, task_run.timeout INTO run, state, granted, late_seconds;
        IF NOT a.full THEN RETURN; END IF;
        SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task;
        t.answers := t.answers + 1; t.leases := t.leases - 1;
        l := a; whose := p_user; is_trial := false; held := true; c := 1; changed := pg_current_xact_id()::text::bigint + a.base;
    END IF;
    surplus := false; reliable := true; more := 0; anonymous := coalesce(p_ip, '') <> '' AND p_actor ~ '^[ci]:';
    IF current IS NOT TRUE THEN
        -- First the lock: every later statement then sees all that came before. A volunteer who tries a draft holds its project, too, or
        -- publishing would have to lock every task.
        IF is_trial THEN SELECT trial INTO is_trial FROM project_ledger WHERE project_id = p_project FOR SHARE; END IF;
        IF bars AND is_barred(p_project, p_actor, p_ip) THEN state := 'barred'; RETURN; END IF;
        IF asked IS FALSE THEN                              -- perhaps as another of their actors
            actors := proven_actors(p_project, p_actor, p_also, p_now);
            asked := EXISTS (SELECT FROM lease WHERE project_id = p_project AND actor = ANY (actors) AND task_id = p_task)
                  OR EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND actor = ANY (actors) AND task_id = p_task);
        END IF;
        IF asked IS NOT TRUE THEN                           -- volunteers who never asked for the task lock nothing
            SELECT id INTO run FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = ANY (actors) ORDER BY id LIMIT 1;
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
        actors := proven_actors(p_project, p_actor, p_also, p_now);         -- under the lock, so that of two actors at once one sees the other's answer
        IF cardinality(actors) > 1 THEN
            SELECT id INTO run FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = ANY (actors) ORDER BY id LIMIT 1;
            IF FOUND THEN
                PERFORM drop_leases(p_project, p_task, actors, p_now);
                state := 'duplicate';
                RETURN;
            END IF;
            PERFORM adopt_lease(p_project, p_task, actors, p_now);
            PERFORM drop_leases(p_project, p_task, actors[2:], p_now);
            SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task;
        END IF;
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
        IF labelled THEN                                    -- after the lock, so that all answers are read by one declaration (follow_label)
            SELECT * INTO a FROM class_of(p_project, p_actor, p_info);
            class_ := a.class; reliable := a.reliable;
        END IF;
        c := (t.answers < t.n_answers AND NOT t.retired AND NOT surplus AND reliable AND (held OR t.mode = 'unlimited' OR t.answers + t.leases < t.n_answers))::int;
        granted := l.granted;
        late_seconds := CASE WHEN p_now > l.expires THEN extract(epoch FROM p_now - l.expires) END;
        changed := pg_current_xact_id()::text::bigint + coalesce(p_change_base, change_base());
        INSERT INTO task_run (project_id, task_id, actor, user_id, user_ip, external_uid, created, finish_time, counted, trial, timeout, calibration, media_url, info, class, unreliable,
                              changed_xid, circumstances)
        VALUES (p_project, p_task, p_actor, p_user, nullif(p_ip, ''), p_external, l.granted, p_now, c = 1, is_trial, late_seconds, p_calibration, p_media_url, p_info,
                class_, NOT reliable, changed, p_circumstances)
        RETURNING id INTO run;
        IF t.mode = 'gold' THEN PERFORM judge_gold(r) FROM task_run r WHERE project_id = p_project AND id = run; END IF;
        UPDATE task_ledger SET answers = answers + c, leases = leases - held::int, uncounted = uncounted + 1 - c,
               requeued_xid = CASE WHEN mode = 'one_at_a_time' OR (mode = 'by_level' AND held::int <> c) THEN stamp(p_project) ELSE requeued_xid END
         WHERE project_id = p_project AND task_id = p_task RETURNING * INTO t;
    END IF;
    last := (c = 1 AND NOT t.done AND is_complete(t.answers, t.n_answers))::int;
    ruled := ruled AND c = 1 AND NOT t.done AND t.n_answers <= 50;
    IF last = 1 OR ruled THEN
        wanted := t.n_answers;
        IF labelled THEN w := weigh(p_project, p_task); END IF;
        IF ruled THEN
            f := follow_rules(t, w, p_now); t := f.t; w := f.w;
            last := (w.rule IS NOT NULL OR is_complete(t.answers, t.n_answers))::int;
        END IF;
        IF last = 1 AND (w.rule IS NOT NULL OR stops(t, w)) THEN
            o := complete(t, is_trial, p_now, w, changed);
            IF t.max_answers IS NOT NULL THEN more := t.answers - wanted; END IF;
        ELSE
            IF last = 1 THEN
                UPDATE task_ledger SET answers = t.answers, leases = t.leases, n_answers = wanted_so_far(t, w.min_answers), requeued_xid = stamp(p_project)
                 WHERE project_id = p_project AND task_id = p_task RETURNING * INTO t;
            END IF;
            last := 0; more := t.n_answers - wanted;
        END IF;
    END IF;
    INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, completed, wanted, seconds, bytes, outcomes, consensus_hash, n_compared, agreement)
    VALUES (p_project, date_trunc('hour', p_now), p_actor, whose, 1, c, last, more, time_spent(l.granted, p_now, late_seconds),
            coalesce(octet_length(p_info::text), 0), o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
    IF held AND (surplus OR NOT reliable OR anonymous AND l.network <> p_ip) OR more > 0 AND t.uncounted > 0 THEN PERFORM reconcile_task(p_project, p_task, false, p_now); END IF;
    state := CASE WHEN c = 1 THEN 'counted' WHEN surplus THEN 'surplus' WHEN NOT reliable THEN 'unreliable' ELSE 'late' END;
END $$;

-- How long after it was stored an answer may still be changed when its task has its result already.
CREATE FUNCTION correction_window() RETURNS interval IMMUTABLE LANGUAGE sql AS $$ SELECT interval '5 minutes' $$;

-- Changes an answer. Returns changed, same (the answer is equal already), in result (the task has its result, and the time for corrections
-- is over), none (no answer) or barred. p_info or p_calibration null: that part stays. p_admin: an administrator changes the answer of
-- anybody. Counters stay as they are, because the answer keeps its time. A result that contains the old answer becomes an earlier version
-- (I4, I5).
CREATE FUNCTION amend_answer(p_project bigint, p_actor text, p_task bigint, p_info jsonb, p_now timestamptz, p_network text DEFAULT '',
                             p_calibration jsonb DEFAULT NULL, p_admin boolean DEFAULT false, OUT state text, OUT run bigint) LANGUAGE plpgsql AS $$
DECLARE t task_ledger; r task_run; is_trial boolean; bars boolean; labelled boolean; n_gold_ int; tells boolean; another boolean; marked bigint; o outcome; w weighed;
BEGIN
    SELECT trial, has_bars, has_label, n_gold, gold_feedback INTO is_trial, bars, labelled, n_gold_, tells FROM project_ledger WHERE project_id = p_project;
    IF is_trial THEN SELECT trial INTO is_trial FROM project_ledger WHERE project_id = p_project FOR SHARE; END IF;
    IF bars AND NOT p_admin AND is_barred(p_project, p_actor, p_network) THEN state := 'barred'; RETURN; END IF;
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    SELECT * INTO r FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = p_actor;
    IF NOT FOUND THEN state := 'none'; RETURN; END IF;
    run := r.id;
    another := p_info IS NOT NULL AND r.info IS DISTINCT FROM p_info;
    marked := CASE WHEN p_calibration IS NULL THEN r.calibration ELSE (p_calibration #>> '{}')::bigint END;
    IF NOT another AND marked IS NOT DISTINCT FROM r.calibration THEN state := 'same'; RETURN; END IF;
    -- Where there are gold tasks the time is over for all answers, also to open tasks: it must not tell which is which.
    IF (t.done AND r.counted OR n_gold_ > 0) AND p_now > r.finish_time + correction_window() OR r.gold AND tells THEN state := 'in result'; RETURN; END IF;
    state := 'changed';
    IF another AND r.counted THEN PERFORM unteach(p_project, p_task); END IF;
    IF another AND r.gold THEN PERFORM unteach_gold(r); END IF;
    UPDATE task_run SET info = CASE WHEN another THEN p_info ELSE info END, calibration = marked,
           class = CASE WHEN NOT another THEN class WHEN labelled THEN (class_of(p_project, p_actor, p_info)).class END
     WHERE project_id = p_project AND id = r.id;
    IF NOT another THEN RETURN; END IF;
    IF r.gold THEN PERFORM judge_gold(x) FROM task_run x WHERE project_id = p_project AND id = r.id; END IF;
    IF t.done AND r.counted AND t.max_answers IS NOT NULL AND t.mode <> 'gold' THEN
        PERFORM reconcile_task(p_project, p_task, true, p_now);
    ELSIF t.done AND r.counted THEN
        IF labelled THEN w := weigh(p_project, p_task); END IF;
        o := complete(t, is_trial, p_now, w);
        INSERT INTO stat_delta (project_id, hour, outcomes, consensus_hash, n_compared, agreement)
        VALUES (p_project, date_trunc('hour', p_now), o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
    END IF;
END $$;

-- Deletes an answer; a counted one re-opens its task and makes its result no longer the last. False: there is none.
CREATE FUNCTION delete_run(p_project bigint, p_run bigint, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE r task_run; t task_ledger;
BEGIN
    SELECT * INTO r FROM task_run WHERE project_id = p_project AND id = p_run;
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id FOR UPDATE;
    SELECT * INTO r FROM task_run WHERE project_id = p_project AND id = p_run;
    IF r.counted THEN PERFORM unteach(p_project, r.task_id); END IF;
    DELETE FROM task_run WHERE project_id = p_project AND id = p_run RETURNING * INTO r;
    IF NOT FOUND THEN RETURN false; END IF;
    IF r.gold THEN PERFORM unteach_gold(r); END IF;
    UPDATE task_ledger SET answers = answers - r.counted::int, uncounted = uncounted - 1 + r.counted::int WHERE project_id = p_project AND task_id = r.task_id;
    INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, seconds, wanted)
    VALUES (p_project, date_trunc('hour', r.finish_time), r.actor, scorer(p_project, r.user_id, r.trial), -1, -r.counted::int,
            -time_spent(r.created, r.finish_time, r.timeout), -(r.counted AND t.retired)::int);
    PERFORM reconcile_task(p_project, r.task_id, r.counted, p_now);
    RETURN true;
END $$;
