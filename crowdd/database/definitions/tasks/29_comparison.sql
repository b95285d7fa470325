-- Answers that are compared after the commit: texts, boxes, points, areas and marked parts, whose consensus takes longer than a
-- transaction may (crowdd/features/results/comparing.py), and what each task adds to Krippendorff's alpha of its project.
--
-- A completion appends a row to comparison_due. A job reads the answers of the oldest rows, has them compared and stores what they
-- say, unless the task is due again or its result is no longer the last. The row goes with that, so that nothing is lost or done twice.
-- What fails stays, with the reason (failure), and is tried again with more time: at retry_at, or when the owner asks for it.

-- Has the last result of a task compared. p_fresh: it was just made, so it goes before others, and an event says when it is done. The
-- caller holds the ledger row.
CREATE FUNCTION compare_later(p_project bigint, p_task bigint, p_result bigint, p_fresh boolean) RETURNS void LANGUAGE sql AS $$
INSERT INTO comparison_due AS d (project_id, task_id, result_id, fresh) VALUES (p_project, p_task, p_result, p_fresh)
    ON CONFLICT (project_id, task_id) DO UPDATE SET result_id = excluded.result_id, stamp = excluded.stamp, failure = NULL, tries = 0, retry_at = NULL, fresh = d.fresh OR excluded.fresh $$;

-- The values of answers at declared fields: for each answer an array with, for each field, [value], or [] if there is none or it has
-- more than 100,000 bytes.
CREATE FUNCTION compared_values(p_project bigint, p_runs bigint[], p_fields jsonb) RETURNS jsonb STABLE LANGUAGE sql AS $$
SELECT coalesce(jsonb_agg((SELECT jsonb_agg(CASE WHEN octet_length(v.value::text) <= 100000 THEN jsonb_build_array(v.value) ELSE '[]' END ORDER BY nth)
                             FROM jsonb_array_elements(p_fields) WITH ORDINALITY f (field, nth), LATERAL (SELECT said_at(r.info, (field->>'path')::text[]) AS value OFFSET 0) v) ORDER BY r.id), '[]')
  FROM task_run r WHERE r.project_id = p_project AND r.id = ANY (p_runs) $$;

-- How many of the answers to a task, from the first, tell of agreement in the project; null: all.
CREATE FUNCTION answers_of_alpha(p_fields jsonb, p_info jsonb) RETURNS int IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_fields->0->>'type' = 'label' AND jsonb_typeof(p_info->'trust'->'min_answers') = 'number' THEN (p_info->'trust'->>'min_answers')::numeric::int END $$;

-- The oldest results that are due, fresh ones first, at most p_maximum of them and about p_answers answers, with their values by field. first_answers: how
-- many of the answers, from the first, tell of agreement in the project; null: all. Without values: the result is no longer the last.
CREATE FUNCTION due_comparisons(p_maximum int, p_answers int)
RETURNS TABLE (project_id bigint, task_id bigint, result_id bigint, stamp bigint, fields jsonb, first_answers int, answers jsonb) STABLE LANGUAGE sql AS $$
SELECT d.project_id, d.task_id, d.result_id, d.stamp, d.answer_fields, d.first_answers, compared_values(d.project_id, d.task_run_ids, d.answer_fields)
  FROM (SELECT c.*, x.task_run_ids, p.answer_fields, sum(cardinality(x.task_run_ids)) OVER (ORDER BY c.fresh DESC, c.stamp) - cardinality(x.task_run_ids) AS before,
               answers_of_alpha(p.answer_fields, p.info) AS first_answers
          FROM (SELECT * FROM comparison_due WHERE failure IS NULL ORDER BY fresh DESC, stamp LIMIT p_maximum) c
          LEFT JOIN project p ON p.id = c.project_id
          LEFT JOIN result x ON x.project_id = c.project_id AND x.id = c.result_id AND x.last_version) d
 WHERE d.before IS NULL OR d.before < p_answers ORDER BY d.fresh DESC, d.stamp $$;

-- Those that failed and are to be tried again, and how often they have been tried.
CREATE FUNCTION failed_comparisons(p_maximum int, p_now timestamptz)
RETURNS TABLE (project_id bigint, task_id bigint, result_id bigint, stamp bigint, fields jsonb, first_answers int, answers jsonb, tries int) STABLE LANGUAGE sql AS $$
SELECT c.project_id, c.task_id, c.result_id, c.stamp, p.answer_fields, answers_of_alpha(p.answer_fields, p.info), compared_values(c.project_id, x.task_run_ids, p.answer_fields), c.tries
  FROM (SELECT * FROM comparison_due WHERE failure IS NOT NULL AND retry_at <= p_now ORDER BY retry_at, stamp LIMIT p_maximum) c
  LEFT JOIN result x ON x.project_id = c.project_id AND x.id = c.result_id AND x.last_version
  LEFT JOIN project p ON p.id = x.project_id ORDER BY c.retry_at, c.stamp $$;

-- Has everything in a project that failed to be compared tried again now; how much that is.
CREATE FUNCTION retry_comparisons(p_project bigint, p_now timestamptz) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint; results bigint; fields bigint;
BEGIN
    UPDATE comparison_due SET retry_at = p_now WHERE project_id = p_project AND failure IS NOT NULL;
    GET DIAGNOSTICS results = ROW_COUNT;
    UPDATE alpha_expected SET retry_at = p_now WHERE project_id = p_project AND failure IS NOT NULL;
    GET DIAGNOSTICS fields = ROW_COUNT;
    IF fields > 0 THEN PERFORM measure_later(p_project, p_now); END IF;
    UPDATE gold_failure SET retry_at = p_now WHERE project_id = p_project;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n + results + fields;
END $$;

-- What values at a field of a type say, as columns of result. p_said: {value, answers, agreement, confidence}, value missing: no consensus.
CREATE FUNCTION said_of(p_type text, p_said jsonb) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE s said;
BEGIN
    s.consensus := p_said->'value';
    s.n_compared := (p_said->>'answers')::int; s.agreement := (p_said->>'agreement')::real; s.confidence := (p_said->>'confidence')::real;
    s.consensus_hash := jsonb_hash_extended(CASE WHEN jsonb_typeof(s.consensus) = 'string' THEN to_jsonb(plain_text(s.consensus #>> '{}')) ELSE s.consensus END, 0);
    IF octet_length(s.consensus::text) > max_compared_bytes() THEN s.consensus := NULL; END IF;
    RETURN s;
END $$;

-- A longer consensus of a text or of marks is not stored.
CREATE FUNCTION max_compared_bytes() RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT 20000 $$;

-- Stores what results say: an array of {project_id, task_id, result_id, stamp, said, alpha, failure, retry_seconds}. said has for each field what
-- said_of takes, or null for fields that were compared when the task was completed, or could not be compared; said null: the result is no
-- longer the last, or (failure) nothing could be compared. With a failure the task stays due, and is tried again after retry_seconds (null:
-- not by itself). Tasks whose ledger row somebody else holds stay due. Returns the projects in which a result has changed.
CREATE FUNCTION store_comparisons(p_found jsonb, p_now timestamptz) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE c record; r result; fields jsonb; names text[]; trial boolean; fresh boolean; s said; more jsonb;
BEGIN
    FOR c IN SELECT * FROM jsonb_to_recordset(p_found) AS f (project_id bigint, task_id bigint, result_id bigint, stamp bigint, said jsonb, alpha jsonb, failure text, retry_seconds float8) ORDER BY 1, 2 LOOP
        PERFORM FROM task_ledger WHERE project_id = c.project_id AND task_id = c.task_id FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND AND EXISTS (SELECT FROM task_ledger WHERE project_id = c.project_id AND task_id = c.task_id);
        IF c.failure IS NULL THEN
            DELETE FROM comparison_due d WHERE d.project_id = c.project_id AND d.task_id = c.task_id AND d.stamp = c.stamp RETURNING d.fresh INTO fresh;
        ELSE
            UPDATE comparison_due d SET failure = c.failure, tries = d.tries + 1, retry_at = p_now + c.retry_seconds * interval '1 second'
             WHERE d.project_id = c.project_id AND d.task_id = c.task_id AND d.stamp = c.stamp RETURNING d.fresh INTO fresh;
        END IF;
        CONTINUE WHEN NOT FOUND OR c.failure IS NOT NULL AND c.said IS NULL;
        SELECT * INTO r FROM result x WHERE x.project_id = c.project_id AND x.id = c.result_id AND x.last_version;
        CONTINUE WHEN NOT FOUND;
        SELECT answer_fields, answer_names, l.trial INTO fields, names, trial FROM project p JOIN project_ledger l ON l.project_id = p.id WHERE p.id = c.project_id;
        s := (r.consensus, r.consensus_hash, r.n_compared, r.agreement, r.confidence);
        IF c.said->0 <> 'null' THEN s := said_of(fields->0->>'type', c.said->0); END IF;
        SELECT jsonb_agg(CASE WHEN coalesce(c.said->nth, 'null') = 'null' THEN coalesce(r.further->(nth - 1), 'null') ELSE said_as_json(said_of(fields->nth->>'type', c.said->nth)) END ORDER BY nth)
          INTO more FROM generate_series(1, jsonb_array_length(r.further)) nth;
        IF r.decided IS NOT NULL THEN
            s := decided_said(fields->0, r.decided, s, 1); more := decided_further(fields, r.decided, more);
        END IF;
        UPDATE result x SET consensus = s.consensus, consensus_hash = s.consensus_hash, n_compared = s.n_compared, agreement = s.agreement, confidence = s.confidence,
               further = more, alpha = c.alpha WHERE x.project_id = c.project_id AND x.id = r.id;
        PERFORM measure_later(c.project_id, p_now);
        CONTINUE WHEN NOT jsonb_path_exists(c.said, '$[*] ? (@ != null)');
        IF fresh AND trial IS FALSE THEN
            more := consensus_by_name(names, s, more, printed_as_json(r));
            INSERT INTO event (project_id, kind, task_id, result_id, at, data)
            VALUES (c.project_id, 'result_compared', c.task_id, r.id, p_now, CASE WHEN octet_length(more::text) <= 2000 THEN jsonb_build_object('consensus', more) ELSE '{}' END);
        END IF;
        RETURN NEXT c.project_id;
    END LOOP;
END $$;

-- What consensus_of says of a task, where the fields that are compared after the commit have what the last result has of them.
CREATE FUNCTION consensus_with_compared(p_project bigint, p_task bigint)
RETURNS TABLE (consensus jsonb, consensus_hash bigint, n_compared int, agreement real, confidence real, further jsonb) STABLE LANGUAGE plpgsql AS $$
DECLARE r result; c record; s said; fields jsonb;
BEGIN
    SELECT * INTO c FROM consensus_of(p_project, p_task);
    IF NOT FOUND THEN RETURN; END IF;
    IF c.n_compared IS NULL OR c.further @> '[null]' THEN
        SELECT * INTO r FROM result x WHERE x.project_id = p_project AND x.task_id = p_task AND x.last_version;
    END IF;
    IF c.n_compared IS NULL THEN
        c.consensus := r.consensus; c.consensus_hash := r.consensus_hash; c.n_compared := r.n_compared; c.agreement := r.agreement; c.confidence := r.confidence;
    END IF;
    SELECT jsonb_agg(CASE WHEN e = 'null' THEN coalesce(r.further->(nth - 1)::int, e) ELSE e END ORDER BY nth) INTO c.further FROM jsonb_array_elements(c.further) WITH ORDINALITY f (e, nth);
    SELECT * INTO r FROM result x WHERE x.project_id = p_project AND x.task_id = p_task AND x.last_version AND x.decided IS NOT NULL;
    IF FOUND THEN
        SELECT answer_fields INTO fields FROM project WHERE id = p_project;
        s := decided_said(fields->0, r.decided, (c.consensus, c.consensus_hash, c.n_compared, c.agreement, c.confidence)::said, 1);
        RETURN QUERY SELECT s.*, decided_further(fields, r.decided, c.further);
        RETURN;
    END IF;
    RETURN QUERY SELECT c.consensus, c.consensus_hash, c.n_compared, c.agreement, c.confidence, c.further;
END $$;

-- Has the expected disagreement of a project's fields looked at.
CREATE FUNCTION measure_later(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO alpha_due (project_id, due) SELECT id, p_now FROM project WHERE id = p_project ON CONFLICT (project_id) DO UPDATE SET due = excluded.due $$;

-- The fields of a project were looked at, as they were at p_read: what failed comes again when it is tried again.
CREATE FUNCTION measured(p_project bigint, p_read timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE next_ timestamptz := (SELECT min(retry_at) FROM alpha_expected WHERE project_id = p_project AND failure IS NOT NULL);
BEGIN
    IF next_ IS NULL THEN DELETE FROM alpha_due WHERE project_id = p_project AND due <= p_read;
    ELSE UPDATE alpha_due SET due = greatest(next_, p_read) WHERE project_id = p_project AND due <= p_read; END IF;
END $$;

-- Stores the expected disagreement of a field, measured when it had so many answers; or that it failed, which leaves what was measured before.
CREATE FUNCTION store_expected(p_project bigint, p_field int, p_expected float8, p_answers numeric, p_failure text, p_retry_at timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO alpha_expected AS e (project_id, field, expected, answers, failure, tries, retry_at)
SELECT id, p_field, p_expected, CASE WHEN p_failure IS NULL THEN p_answers ELSE 0 END, p_failure, (p_failure IS NOT NULL)::int, p_retry_at FROM project WHERE id = p_project
    ON CONFLICT (project_id, field) DO UPDATE SET expected = CASE WHEN p_failure IS NULL THEN p_expected ELSE e.expected END,
       answers = CASE WHEN p_failure IS NULL THEN p_answers ELSE e.answers END, failure = p_failure, tries = CASE WHEN p_failure IS NULL THEN 0 ELSE e.tries + 1 END,
       retry_at = p_retry_at $$;

-- Folds at most p_maximum rows that were appended to the sums of alpha. Returns how many.
CREATE FUNCTION fold_alpha(p_maximum int) RETURNS bigint LANGUAGE sql AS $$
WITH gone AS MATERIALIZED (DELETE FROM alpha_delta WHERE ctid = ANY (ARRAY(SELECT ctid FROM alpha_delta LIMIT p_maximum)) RETURNING *),
sums AS (
    INSERT INTO alpha_sum AS s (project_id, field, part, amount)
    SELECT g.project_id, g.field, g.part, sum(g.amount) FROM gone g JOIN project p ON p.id = g.project_id GROUP BY 1, 2, 3 HAVING sum(g.amount) <> 0 ORDER BY 1, 2, 3
        ON CONFLICT (project_id, field, part) DO UPDATE SET amount = s.amount + excluded.amount
)
SELECT count(*) FROM gone $$;

-- The sums of which alpha is made, with what is not folded yet.
CREATE FUNCTION alpha_sums(p_project bigint) RETURNS TABLE (field smallint, part text, amount numeric) STABLE LANGUAGE sql AS $$
SELECT field, part, sum(amount) FROM (SELECT field, part, amount FROM alpha_sum WHERE project_id = p_project UNION ALL
                                      SELECT field, part, amount FROM alpha_delta WHERE project_id = p_project) s GROUP BY 1, 2 HAVING sum(amount) <> 0 $$;
