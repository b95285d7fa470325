-- Files that leave a project (crowdd/features/exports/statements.py).

-- What last results say, a row for each answer field.
CREATE VIEW consensus_export AS
SELECT r.id, r.project_id, r.task_id, r.id AS result_id, r.created, e.key AS field, e.value->'value' AS value, (e.value->>'answers')::bigint AS answers,
       (e.value->>'agreement')::float8 AS agreement, (e.value->>'confidence')::float8 AS confidence, (e.value->>'model')::float8 AS model, r.reason
  FROM result_record r CROSS JOIN LATERAL jsonb_each(CASE WHEN jsonb_typeof(r.consensus) = 'object' THEN r.consensus END) WITH ORDINALITY e(key, value, nth)
 WHERE r.last_version;

-- Events that have a number, as webhooks are told of them.
CREATE VIEW event_export AS
SELECT e.seq AS id, e.project_id, e.seq AS sequence, e.kind AS event, e.at AS fired_at, e.task_id, e.result_id, event_data(e) AS data
  FROM event e WHERE e.seq IS NOT NULL;

-- What the posterior of a result is made of, in double precision, so that anybody can work it out again: {choices, class, prior, answers, posterior,
-- min_answers, confidence, measured, max_answers, rule}. prior: ln of each choice's. answers: {answer (its id), class, accuracy, weight, log_likelihoods}, those with a
-- class. The posterior is e to the power of prior and log_likelihoods together, normalised. choices is null where the project has others by now; class is
-- the number of the most probable one. Null: the result is no label; of a decision, and of several choices in one answer, only class and posterior.
CREATE FUNCTION model_of(r result) RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
DECLARE q trust_model; k int := cardinality(r.posterior); shown jsonb[]; n int := 0; added jsonb := '[]'; vector real[]; class_ smallint; step int; classes smallint[]; p float8[];
BEGIN
    SELECT * INTO q FROM trust_model WHERE project_id = r.project_id;
    IF NOT FOUND OR k IS NULL THEN RETURN NULL; END IF;
    IF q.generation = coalesce((r.weighed_by->>'generation')::int, r.generation, q.generation) THEN shown := q.choices; END IF;
    IF r.log_likelihoods IS NULL THEN
        RETURN jsonb_build_object('choices', shown, 'class', r.class, 'posterior', r.posterior::float8[]);
    END IF;
    SELECT array_agg(coalesce((r.weighed_by#>>ARRAY['classes', (nth - 1)::text])::smallint, CASE WHEN r.weighed_by IS NULL THEN t.class END) ORDER BY nth) INTO classes
      FROM unnest(r.task_run_ids) WITH ORDINALITY u (id, nth) LEFT JOIN task_run t ON t.project_id = r.project_id AND t.id = u.id;
    classes := ARRAY(SELECT CASE WHEN c <= k THEN c END FROM unnest(classes) WITH ORDINALITY u (c, nth) ORDER BY nth);
    step := (cardinality(r.log_likelihoods) - k) / nullif(cardinality(array_remove(classes, NULL)), 0);
    IF step IS NULL OR step NOT IN (1, k) OR cardinality(r.log_likelihoods) <> k + step * cardinality(array_remove(classes, NULL)) THEN
        RETURN jsonb_build_object('choices', shown, 'class', r.class, 'posterior', r.posterior::float8[]);    -- of an answer that is gone
    END IF;
    FOR i IN 1 .. cardinality(classes) LOOP
        class_ := classes[i];
        CONTINUE WHEN class_ IS NULL;
        IF step = k THEN vector := r.log_likelihoods[k + n * k + 1 : k + n * k + k];
        ELSE vector := array_fill(0::real, ARRAY[k]); vector[class_] := r.log_likelihoods[k + n + 1]; END IF;
        n := n + 1;
        added := added || jsonb_build_object('answer', r.task_run_ids[i], 'class', class_, 'accuracy', r.weighed_by->'accuracies'->(i - 1),
                                             'weight', r.weighed_by->'weights'->(i - 1), 'log_likelihoods', vector::float8[]);
    END LOOP;
    p := posterior_again(r.log_likelihoods, array_remove(classes, NULL), k, step = k);
    RETURN jsonb_build_object('choices', shown, 'class', r.class, 'prior', r.log_likelihoods[1:k]::float8[], 'answers', added, 'posterior', p,
                              'min_answers', r.weighed_by->'min_answers', 'confidence', r.weighed_by->'confidence', 'measured', r.weighed_by->'measured', 'max_answers', r.weighed_by->'max_answers', 'rule', r.weighed_by->'rule');
END $$;

-- Why an answer does not count; null: it counts. gold: it was given to a gold task. late: its task had what it wanted, or its network its share of it.
-- unreliable: its volunteer was no better than chance. repeated: the same person had answered. set_aside: an owner did that.
CREATE FUNCTION why_not_counted(p_counted boolean, p_gold boolean, p_aside bigint, p_unreliable boolean) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_counted THEN NULL WHEN p_gold THEN 'gold' WHEN p_aside = 0 THEN 'repeated' WHEN p_aside IS NOT NULL THEN 'set_aside'
            WHEN p_unreliable THEN 'unreliable' ELSE 'late' END $$;

-- The version of the questions that an answer was given to: it says so itself, or it is the one of that time. Null: the project has none.
CREATE FUNCTION questions_version_of(p_project bigint, p_info jsonb, p_created timestamptz) RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT CASE WHEN jsonb_typeof(p_info) = 'object' AND p_info->>'questions_version' ~ '^[1-9][0-9]{0,8}$' THEN (p_info->>'questions_version')::bigint
            ELSE (SELECT v.version FROM question_version v WHERE v.project_id = p_project
                   ORDER BY v.created > p_created, abs(extract(epoch FROM v.created - p_created)) LIMIT 1) END $$;
