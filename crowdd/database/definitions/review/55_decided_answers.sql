-- What an expert's answer (result.decided) says in place of the volunteers' answers, at each answer field. How many of these were compared
-- and how far they agree stays. An opinion is counted, so nobody decides it.

-- At one field; s is what the answers say. What the expert left out has no consensus.
CREATE FUNCTION decided_said(p_field jsonb, p_decided jsonb, s said, p_confidence real) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE v jsonb := said_at(p_decided, (p_field->>'path')::text[]); t said;
BEGIN
    IF p_field->>'type' = 'opinion' THEN RETURN s; END IF;
    s.n_compared := coalesce(s.n_compared, 0);
    s.confidence := CASE WHEN v IS NOT NULL THEN p_confidence END;
    s.consensus := v;
    IF p_field->>'type' IN ('label', 'labels', 'number') THEN RETURN kept_consensus(s); END IF;
    t := said_of(p_field->>'type', CASE WHEN v IS NULL THEN '{}' ELSE jsonb_build_object('value', v) END);
    s.consensus := t.consensus; s.consensus_hash := t.consensus_hash;
    RETURN s;
END $$;

-- At the fields after the first: result.further.
CREATE FUNCTION decided_further(p_fields jsonb, p_decided jsonb, p_further jsonb) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE further jsonb := '[]'; e jsonb; s said;
BEGIN
    FOR nth IN 1 .. jsonb_array_length(p_fields) - 1 LOOP
        e := p_further->(nth - 1);
        s := (NULL, (e->>'hash')::bigint, (e->>'answers')::int, (e->>'agreement')::real, (e->>'confidence')::real);
        further := further || jsonb_build_array(said_as_json(decided_said(p_fields->nth, p_decided, s, NULL)));
    END LOOP;
    RETURN nullif(further, '[]');
END $$;

-- Has the last result of a task say what its expert decided, after its answers were compared again.
CREATE FUNCTION say_decided(p_project bigint, p_task bigint) RETURNS void LANGUAGE sql AS $$
UPDATE result r SET (consensus, consensus_hash, n_compared, agreement, confidence) =
       (SELECT d.* FROM decided_said(p.answer_fields->0, r.decided, (r.consensus, r.consensus_hash, r.n_compared, r.agreement, r.confidence)::said, 1::real) d),
       further = decided_further(p.answer_fields, r.decided, r.further)
  FROM project p WHERE p.id = p_project AND p.answer_fields IS NOT NULL AND r.project_id = p_project AND r.task_id = p_task AND r.last_version AND r.decided IS NOT NULL $$;

-- Decides a task by a whole answer: decided, same (it was decided like this), opinion (a second opinion is wanted, which reviewers give on the
-- class), or what review_refusal says. What somebody else has decided, only owners replace. Where results have a class, the answer has one of them.
CREATE FUNCTION decide_answer(p_project bigint, p_task bigint, p_seen bigint, p_user bigint, p_answer jsonb, p_owns boolean, p_now timestamptz,
                              OUT state text, OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE is_done boolean; r result; q trust_model; c int;
BEGIN
    SELECT done AND mode <> 'gold' INTO is_done FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    SELECT * INTO r FROM result x WHERE x.project_id = p_project AND x.task_id = p_task AND x.last_version;
    SELECT * INTO q FROM trust_model WHERE project_id = p_project;
    result := r.id;
    IF q.project_id IS NOT NULL THEN c := choice_position(q.choices, said_at(p_answer, q.path)); END IF;
    state := CASE WHEN is_done IS NOT TRUE OR r.id IS NULL THEN 'open'
                  WHEN r.id <> p_seen THEN CASE r.reason WHEN 'expert' THEN 'before' ELSE 'changed' END
                  WHEN q.project_id IS NOT NULL AND c IS NULL THEN 'class'
                  WHEN p_owns THEN NULL
                  WHEN r.reason = 'expert' AND r.decided_by IS DISTINCT FROM p_user THEN 'before'
                  WHEN EXISTS (SELECT FROM review_opinion WHERE project_id = p_project AND task_id = p_task AND result_id IS NULL) THEN 'opinion' END;
    IF state IS NOT NULL THEN RETURN; END IF;
    IF r.decided = p_answer THEN state := 'same'; RETURN; END IF;
    result := decided_version(r, q, c, CASE WHEN q.project_id IS NULL THEN r.posterior ELSE certain_of(c, q.k) END, 'expert', p_user, p_now, p_answer);
    UPDATE review_opinion SET result_id = decide_answer.result WHERE project_id = p_project AND task_id = p_task AND result_id IS NULL;
    state := 'decided';
END $$;

-- Withdraws what an expert decided: a version says again what the answers say. withdrawn, none (no expert has decided it), or what
-- decide_answer says. Only owners withdraw what somebody else has decided.
CREATE FUNCTION withdraw_decision(p_project bigint, p_task bigint, p_seen bigint, p_user bigint, p_owns boolean, p_now timestamptz,
                                  OUT state text, OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE t task_ledger; p project_ledger; r result; w weighed; o outcome;
BEGIN
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    SELECT * INTO r FROM result x WHERE x.project_id = p_project AND x.task_id = p_task AND x.last_version;
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project;
    result := r.id;
    state := CASE WHEN t.done IS NOT TRUE OR t.mode = 'gold' OR r.id IS NULL THEN 'open' WHEN r.id <> p_seen THEN 'changed'
                  WHEN r.reason IS DISTINCT FROM 'expert' THEN 'none'
                  WHEN NOT p_owns AND r.decided_by IS DISTINCT FROM p_user THEN 'before' END;
    IF state IS NOT NULL THEN RETURN; END IF;
    IF p.has_label THEN w := weigh(p_project, p_task); END IF;
    o := complete(t, p.trial, p_now, w);
    INSERT INTO stat_delta (project_id, hour, outcomes, consensus_hash, n_compared, agreement)
    VALUES (p_project, date_trunc('hour', p_now), o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
    UPDATE result x SET info = r.info WHERE x.project_id = p_project AND x.task_id = p_task AND x.last_version AND r.info IS NOT NULL;
    SELECT x.id INTO result FROM result x WHERE x.project_id = p_project AND x.task_id = p_task AND x.last_version;
    state := 'withdrawn';
END $$;
