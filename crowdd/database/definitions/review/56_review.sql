-- Review: what owners and reviewers decide of completed tasks (docs/projects/review.md), and labels of an analysis as results
-- (docs/analyse-answers.md). A decision is a version of the result with reason expert, whose posterior is 1 for the class that was decided.
-- Lock order: as in 20_submission.sql, the ledger row of the task first.

-- A posterior that is sure of one of k classes.
CREATE FUNCTION certain_of(p_class int, p_k int) RETURNS real[] IMMUTABLE LANGUAGE sql AS $$
SELECT array_agg((j = p_class)::int::real ORDER BY j) FROM generate_series(1, p_k) j $$;

-- Makes a version behind the last result r that says something else of the same answers, for this reason (expert or analysis): what r
-- taught is taken back and replaced. The caller holds the ledger row. A draft emits no event and teaches nothing. p_decided: the whole answer
-- of an expert; without one, an earlier one goes on with another class. Without a label there is no model q and no class.
CREATE FUNCTION decided_version(r result, q trust_model, p_class int, p_posterior real[], p_reason text, p_user bigint, p_now timestamptz, p_decided jsonb DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE s said := (q.choices[p_class], NULL, r.n_compared, r.agreement, p_posterior[p_class]); names text[]; users jsonb; said_by_name jsonb; res bigint; model real;
        decided jsonb := coalesce(p_decided, jsonb_set(r.decided, q.path, q.choices[p_class])); fields jsonb := (SELECT answer_fields FROM project WHERE id = r.project_id);
BEGIN
    s := kept_consensus(s);
    IF decided IS NOT NULL THEN
        s := decided_said(fields->0, decided, s, 1);
        r.further := decided_further(fields, decided, r.further);
    END IF;
    PERFORM unteach(r.project_id, r.task_id);
    UPDATE result SET last_version = false WHERE project_id = r.project_id AND id = r.id;
    INSERT INTO result (project_id, task_id, version, last_version, task_run_ids, created, info, consensus, consensus_hash, n_compared, agreement, confidence, further,
                        class, posterior, log_likelihoods, reason, saved, decided_by, decided_at, decided)
    VALUES (r.project_id, r.task_id, r.version + 1, true, r.task_run_ids, p_now, r.info, s.consensus, s.consensus_hash, s.n_compared, s.agreement, s.confidence, r.further,
            p_class, p_posterior, CASE WHEN q.project_id IS NULL THEN r.log_likelihoods END, p_reason, r.saved, p_user, p_now, decided) RETURNING id INTO res;
    -- Of the same answers, so what they add to alpha is the same. What was still to be compared of them is so of this version.
    IF r.alpha IS NULL AND fields IS NOT NULL THEN PERFORM compare_later(r.project_id, r.task_id, res, false);
    ELSE UPDATE result SET alpha = r.alpha WHERE project_id = r.project_id AND id = res; END IF;
    PERFORM teach(r.project_id, r.task_id);
    INSERT INTO stat_delta (project_id, hour, outcomes, consensus_hash, n_compared, agreement)
    VALUES (r.project_id, date_trunc('hour', p_now), 1, s.consensus_hash, s.n_compared, s.agreement);
    INSERT INTO stat_delta (project_id, hour, outcomes, field, consensus_hash, n_compared, agreement, value)
    SELECT r.project_id, date_trunc('hour', p_now), 1, f.* FROM further_outcomes(r.further) f;
    IF (SELECT trial FROM project_ledger WHERE project_id = r.project_id) THEN RETURN res; END IF;
    SELECT coalesce(jsonb_agg(user_id ORDER BY id) FILTER (WHERE user_id IS NOT NULL), '[]') INTO users FROM task_run
     WHERE project_id = r.project_id AND id = ANY (r.task_run_ids);
    SELECT answer_names INTO names FROM project WHERE id = r.project_id;
    model := CASE WHEN p_reason <> 'expert' THEN s.confidence END;
    said_by_name := consensus_by_name(names, s, r.further, jsonb_build_object('confidence', NULL, 'model', model));
    INSERT INTO event (project_id, kind, task_id, result_id, at, data)
    VALUES (r.project_id, 'result_updated', r.task_id, res, p_now, jsonb_build_object('user_ids', users, 'label', s.consensus, 'confidence', NULL, 'model', model, 'reason', p_reason)
            || CASE WHEN octet_length(said_by_name::text) <= 2000 THEN jsonb_build_object('consensus', said_by_name) ELSE '{}' END);
    RETURN res;
END $$;

-- What is wrong with a decision about a result that somebody has seen, or null: open (the task is not complete, or a gold task), before (an expert has
-- decided it meanwhile), changed (there is another version) or class (there is no such one).
CREATE FUNCTION review_refusal(r result, q trust_model, p_done boolean, p_seen bigint, p_class int) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_done IS NOT TRUE OR (r).id IS NULL OR (q).project_id IS NULL THEN 'open'
            WHEN (r).id <> p_seen THEN CASE (r).reason WHEN 'expert' THEN 'before' ELSE 'changed' END
            WHEN NOT p_class BETWEEN 1 AND cardinality((q).choices) THEN 'class' END $$;

-- Decides a task: decided, same (it was decided like this), waiting (for a second opinion), differ (an owner has to decide), or what
-- review_refusal says. p_seen: the last result when they looked. What somebody else has decided, only owners replace.
CREATE FUNCTION decide_task(p_project bigint, p_task bigint, p_seen bigint, p_user bigint, p_class int, p_owns boolean, p_now timestamptz,
                            OUT state text, OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE is_done boolean; r result; q trust_model; asked int; others int; against int;
BEGIN
    SELECT done AND mode <> 'gold' INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    SELECT * INTO r FROM result x WHERE x.project_id = p_project AND x.task_id = p_task AND x.last_version;
    SELECT * INTO q FROM trust_model WHERE project_id = p_project;
    result := r.id;
    state := review_refusal(r, q, is_done, p_seen, p_class);
    IF state IS NOT NULL THEN RETURN; END IF;
    IF r.reason = 'expert' AND NOT p_owns AND r.decided_by IS DISTINCT FROM p_user AND r.class <> p_class AND r.decided_by IS NOT NULL THEN
        INSERT INTO review_opinion (project_id, task_id, user_id, at, class) VALUES (p_project, p_task, r.decided_by, r.decided_at, r.class)
            ON CONFLICT (project_id, task_id, user_id) DO UPDATE SET at = excluded.at, class = excluded.class, result_id = NULL;
    END IF;
    SELECT count(*), count(*) FILTER (WHERE user_id <> p_user), count(*) FILTER (WHERE user_id <> p_user AND class <> p_class) INTO asked, others, against
      FROM review_opinion WHERE project_id = p_project AND task_id = p_task AND result_id IS NULL;
    IF r.reason = 'expert' AND r.class = p_class AND asked = 0 THEN state := 'same'; RETURN; END IF;
    IF asked > 0 THEN
        INSERT INTO review_opinion (project_id, task_id, user_id, at, class) VALUES (p_project, p_task, p_user, p_now, p_class)
            ON CONFLICT (project_id, task_id, user_id) DO UPDATE SET at = excluded.at, class = excluded.class, result_id = NULL;
        IF NOT p_owns AND against > 0 THEN state := 'differ'; RETURN; END IF;
        IF NOT p_owns AND others = 0 THEN state := 'waiting'; RETURN; END IF;
    END IF;
    IF r.reason IS DISTINCT FROM 'expert' OR r.class IS DISTINCT FROM p_class THEN result := decided_version(r, q, p_class, certain_of(p_class, q.k), 'expert', p_user, p_now); END IF;
    UPDATE review_opinion SET result_id = decide_task.result WHERE project_id = p_project AND task_id = p_task AND result_id IS NULL;
    state := 'decided';
END $$;

-- Asks what somebody else thinks of a task; p_class: what the one who asks thinks, or null. asked, or what review_refusal says.
CREATE FUNCTION ask_for_opinion(p_project bigint, p_task bigint, p_seen bigint, p_user bigint, p_class int, p_now timestamptz,
                                OUT state text, OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE is_done boolean; r result; q trust_model;
BEGIN
    SELECT done AND mode <> 'gold' INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    SELECT * INTO r FROM result x WHERE x.project_id = p_project AND x.task_id = p_task AND x.last_version;
    SELECT * INTO q FROM trust_model WHERE project_id = p_project;
    result := r.id;
    state := review_refusal(r, q, is_done, p_seen, coalesce(p_class, 1));
    IF state IS NOT NULL THEN RETURN; END IF;
    INSERT INTO review_opinion (project_id, task_id, user_id, at, class) VALUES (p_project, p_task, p_user, p_now, p_class)
        ON CONFLICT (project_id, task_id, user_id) DO UPDATE SET at = excluded.at, class = coalesce(excluded.class, review_opinion.class), result_id = NULL;
    state := 'asked';
END $$;

-- How much an answer speaks for its class, by reliability.log_likelihoods of its volunteer: ln of the odds against the other classes.
CREATE FUNCTION answer_weight(p_says real[], p_class int, p_k int) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_class IS NULL THEN NULL WHEN cardinality(p_says) = 1 THEN p_says[1]
            ELSE p_says[(p_class - 1) * p_k + p_class] - ln((SELECT avg(exp(p_says[(p_class - 1) * p_k + j]::float8)) FROM generate_series(1, p_k) j WHERE j <> p_class)) END $$;

-- What an analysis would make of completed tasks (null: all of the project): those where it is sure of one class of the model, which is not
-- that of the last result. What an expert has decided stays, and so do results of answers that came after the analysis began. posterior
-- is by the classes of the model.
CREATE FUNCTION analysed(p_project bigint, p_tasks bigint[], p_analysis bigint) RETURNS TABLE (task_id bigint, class int, posterior real[]) STABLE LANGUAGE sql AS $$
SELECT e.task_id, c.class, ARRAY(SELECT coalesce((e.posterior[a.nth] / c.total)::real, 0) FROM unnest(q.choices) WITH ORDINALITY m (choice, j)
                                   LEFT JOIN LATERAL (SELECT array_position(x.choices, m.choice) AS nth) a ON true ORDER BY m.j)
  FROM trust_model q
  JOIN LATERAL (SELECT id, created, ARRAY(SELECT jsonb_array_elements(choices)) AS choices FROM analysis
                 WHERE id = p_analysis AND project_id = p_project AND ended IS NOT NULL) x ON true
  JOIN analysis_task e ON e.project_id = p_project AND e.analysis_id = x.id AND (p_tasks IS NULL OR e.task_id = ANY (p_tasks))
  JOIN task_ledger l ON l.project_id = p_project AND l.task_id = e.task_id AND l.done AND NOT EXISTS (SELECT FROM gold_task g WHERE g.project_id = p_project AND g.task_id = e.task_id)
  JOIN result r ON r.project_id = p_project AND r.task_id = e.task_id AND r.last_version
  CROSS JOIN LATERAL (SELECT array_position(q.choices, x.choices[e.class]) AS class,
                             (SELECT sum(p) FROM unnest(e.posterior, x.choices) u (p, choice) WHERE choice = ANY (q.choices)) AS total) c
 WHERE q.project_id = p_project AND c.class IS NOT NULL AND c.class IS DISTINCT FROM r.class AND r.reason IS DISTINCT FROM 'expert'
   AND NOT EXISTS (SELECT FROM result o WHERE o.project_id = p_project AND o.task_id = e.task_id AND o.reason IS DISTINCT FROM 'analysis' AND o.created > x.created) $$;

-- Has results say what an analysis says, where that differs.
CREATE FUNCTION apply_analysis(p_project bigint, p_tasks bigint[], p_analysis bigint, p_user bigint, p_now timestamptz) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE q trust_model; a record; e effect := (0, 0, 0, 0);
BEGIN
    PERFORM FROM task_ledger l WHERE project_id = p_project AND task_id IN (SELECT task_id FROM analysed(p_project, p_tasks, p_analysis)) ORDER BY task_id FOR UPDATE;
    SELECT * INTO q FROM trust_model WHERE project_id = p_project;
    FOR a IN SELECT n.*, r FROM analysed(p_project, p_tasks, p_analysis) n JOIN result r ON r.project_id = p_project AND r.task_id = n.task_id AND r.last_version ORDER BY n.task_id LOOP
        PERFORM decided_version(a.r, q, a.class, a.posterior, 'analysis', p_user, p_now);
        e.tasks := e.tasks + 1;
    END LOOP;
    RETURN e;
END $$;

CREATE FUNCTION preview_apply_analysis(p_project bigint, p_tasks bigint[], p_analysis bigint) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*), 0, 0, 0 FROM analysed(p_project, p_tasks, p_analysis) $$;
