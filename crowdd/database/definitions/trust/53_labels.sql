-- Several choices in one answer (a first answer field of type labels): each choice is a question of its own with two classes, yes and no,
-- weighed as in 53_posterior.sql with one accuracy for each volunteer. There is no trust_model: an accuracy is drawn towards 0.75, yes and no
-- are equally probable at first, and what is learned has the generation 0. What of an answer was right is the mean over all choices. result.posterior
-- has how probable each choice is, result.log_likelihoods what of each answer was right (null: it does not fit), in the order of task_run_ids.

-- The choices that a value names, as bits; null if it does not fit.
CREATE FUNCTION named_choices(p_choices jsonb[], p_value jsonb) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE mask bigint := 0; e jsonb; nth int;
BEGIN
    IF jsonb_typeof(p_value) IS DISTINCT FROM 'array' OR jsonb_array_length(p_value) > cardinality(p_choices) THEN RETURN NULL; END IF;
    FOR e IN SELECT jsonb_array_elements(p_value) LOOP
        nth := choice_position(p_choices, e);
        mask := CASE WHEN mask & (1::bigint << nth) = 0 THEN mask | (1::bigint << nth) END;
    END LOOP;
    RETURN mask;
END $$;

-- What answers say, where it is known how probable each choice is: the probable ones. Confidence is that of the least certain choice.
CREATE FUNCTION said_by_choices(s said, p_field jsonb, p_posterior real[]) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(p_posterior) IS DISTINCT FROM jsonb_array_length(p_field->'choices') OR s.n_compared = 0 THEN RETURN s; END IF;
    SELECT coalesce(jsonb_agg(c ORDER BY nth) FILTER (WHERE p_posterior[nth] > 0.5 + 1e-6), '[]'), min(greatest(p_posterior[nth], 1 - p_posterior[nth]))
      INTO s.consensus, s.confidence FROM jsonb_array_elements(p_field->'choices') WITH ORDINALITY u (c, nth);
    RETURN kept_consensus(s);
END $$;

-- What these answers say, how probable each choice is, and what of each answer was right. Cost: the answers of a task, each one look-up
-- in reliability, times the choices.
CREATE FUNCTION weigh_labels(p_project bigint, p_field jsonb, p_runs bigint[], OUT says said, OUT posterior real[], OUT rights real[]) STABLE LANGUAGE plpgsql AS $$
DECLARE choices jsonb[] := ARRAY(SELECT jsonb_array_elements(p_field->'choices')); k int := cardinality(choices); path text[] := (p_field->>'path')::text[]; sums float8[] := array_fill(0::float8, ARRAY[k]);
        masks bigint[] := '{}'; mask bigint; r record; a float8; odds float8; nets text[]; net text; found jsonb[] := '{}'; right_ float8; total float8 := 0;
BEGIN
    FOR r IN SELECT t.info #> path AS value, t.actor, t.user_ip, coalesce(y.gold_right, 0) AS gold_right, coalesce(y.gold_seen, 0) AS gold_seen,
                    coalesce(y.peer_right, 0) AS peer_right, coalesce(y.peer_seen, 0) AS peer_seen
               FROM task_run t LEFT JOIN reliability y ON y.project_id = t.project_id AND y.actor = t.actor AND y.generation = 0
              WHERE t.project_id = p_project AND t.id = ANY (p_runs) ORDER BY t.id LOOP
        mask := named_choices(choices, r.value);
        masks := masks || mask;
        CONTINUE WHEN mask IS NULL;
        found := found || r.value;
        a := least(greatest((8 * 0.75 + r.gold_right + r.peer_right) / (8 + r.gold_seen + r.peer_seen), 0.5), accuracy_cap(r.gold_seen, r.peer_seen));
        odds := ln(a / (1 - a));
        IF r.user_ip IS NOT NULL AND r.gold_seen < 5 AND r.peer_seen < 10 AND r.actor ~ '^[ci]:' THEN
            net := wider_network(r.user_ip); nets := nets || net; odds := odds / cardinality(array_positions(nets, net));
        END IF;
        total := total + odds;                          -- against every choice, and twice for those that are named
        FOR c IN 1..k LOOP
            CONTINUE WHEN mask >> c & 1 = 0;
            sums[c] := sums[c] + 2 * odds;
        END LOOP;
    END LOOP;
    says := consensus_of_labels(p_field, found);
    IF found = '{}' THEN RETURN; END IF;
    sums := ARRAY(SELECT 1 / (1 + exp(least(total - s, 700))) FROM unnest(sums) WITH ORDINALITY u (s, c) ORDER BY c);
    posterior := sums;
    says := said_by_choices(says, p_field, posterior);
    total := (SELECT sum(1 - s) FROM unnest(sums) s);   -- right about every choice by naming none
    rights := array_fill(NULL::real, ARRAY[cardinality(masks)]);
    FOR i IN 1 .. cardinality(masks) LOOP
        CONTINUE WHEN masks[i] IS NULL;
        right_ := total;
        FOR c IN 1..k LOOP
            CONTINUE WHEN masks[i] >> c & 1 = 0;
            right_ := right_ + 2 * sums[c] - 1;
        END LOOP;
        rights[i] := right_ / k;
    END LOOP;
END $$;

-- Weighs the answers of the last result of a task again where the first field has several choices. The caller holds the ledger row.
CREATE FUNCTION weigh_labels_again(p_project bigint, p_task bigint) RETURNS void LANGUAGE sql AS $$
WITH weighed AS MATERIALIZED (
    SELECT r.id, w.* FROM project p JOIN result r ON r.project_id = p.id CROSS JOIN LATERAL weigh_labels(p.id, p.answer_fields->0, r.task_run_ids) w
     WHERE p.id = p_project AND p.answer_fields->0->>'type' = 'labels' AND r.task_id = p_task AND r.last_version)
UPDATE result r SET posterior = w.posterior, log_likelihoods = w.rights FROM weighed w WHERE r.project_id = p_project AND r.id = w.id $$;
