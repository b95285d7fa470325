-- The class of an answer, and what the counted answers of a task amount to. No running sum is kept: a posterior is worked out from
-- the few answers of its task and from what is known of their volunteers, so deletions, corrections and late answers need nothing undone.
--
-- Lock order: the task's ledger row, then its runs and results, then trust_model and reliability, which are only read. A class that
-- appears for the first time is the exception: it is added to trust_model, at most fifty times in a project. So nobody who holds these two
-- may wait for a ledger row.

-- The class of an answer, null if it does not fit, and whether its volunteer's answers count. The caller holds the ledger row.
CREATE FUNCTION class_of(p_project bigint, p_actor text, p_info jsonb, OUT class smallint, OUT reliable boolean) LANGUAGE plpgsql AS $$
DECLARE q record; v jsonb;
BEGIN
    SELECT m.path, m.choices, m.fixed, r.counts INTO q FROM trust_model m
      LEFT JOIN reliability r ON r.project_id = m.project_id AND r.actor = p_actor AND r.generation = m.generation WHERE m.project_id = p_project;
    reliable := q.counts IS NOT FALSE;
    v := p_info #> q.path;
    class := array_position(q.choices, v);
    IF class IS NULL AND v IS NOT NULL THEN class := folded_position(q.choices, v); END IF;
    IF class IS NULL AND NOT q.fixed AND v IS NOT NULL THEN class := new_class(p_project, v); END IF;
END $$;

-- The number of a value that has not appeared before, where choices are not declared; null if it cannot be a choice, or there are
-- fifty already.
CREATE FUNCTION new_class(p_project bigint, p_value jsonb) RETURNS smallint LANGUAGE plpgsql AS $$
DECLARE q trust_model;
BEGIN
    IF jsonb_typeof(p_value) IN ('array', 'object') OR length(p_value #>> '{}') > 200 THEN RETURN NULL; END IF;
    SELECT * INTO q FROM trust_model WHERE project_id = p_project FOR UPDATE;
    IF choice_position(q.choices, p_value) IS NULL AND cardinality(q.choices) < 50 THEN
        q.choices := q.choices || p_value; q.k := greatest(2, cardinality(q.choices));
        q := published(q);
        UPDATE trust_model SET choices = q.choices, k = q.k, prior = q.prior, newcomer = q.newcomer, accuracy = q.accuracy, published_upto = ''
         WHERE project_id = p_project;
    END IF;
    RETURN choice_position(q.choices, p_value);
END $$;

-- The part of an address that strangers of one network share: the first 24 bits of IPv4, 48 of IPv6. Pseudonyms keep prefixes.
CREATE FUNCTION wider_network(p_ip text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN p_ip ~ '^[0-9.]+$' THEN regexp_replace(p_ip, '\.\d+$', '')
                WHEN p_ip ~ '^[0-9a-f]{1,4}(:[0-9a-f]{0,4}){2,7}$' THEN network(set_masklen(p_ip::inet, 48))::text ELSE p_ip END;
END $$;

-- What the counted answers of a task amount to; only nulls in a project without a label. Of strangers of one network the nth weighs 1/n.
-- class is null where several classes are equally probable. The caller holds the ledger row. Cost: the answers of this task, each one
-- look-up in reliability. log_likelihoods: ln prior of each class, then what each answer with a class has added to each (or to its own
-- class, without confusions). For previews: without the answers of p_but, and with those of p_also, which do not count yet; without
-- p_counted only with these.
CREATE FUNCTION weigh(p_project bigint, p_task bigint, p_but text DEFAULT '', p_also bigint[] DEFAULT '{}', p_counted boolean DEFAULT true)
RETURNS weighed LANGUAGE plpgsql AS $$
DECLARE q record; r record; w weighed; k int; lp float8[]; s real[]; n int := 0; share float8; nets text[]; net text; top float8 := '-infinity'; total float8 := 0; x float8;
BEGIN
    SELECT m.generation, m.k, m.choices, m.confused, m.min_answers, m.confidence, m.recalibration, m.prior, m.newcomer, least(m.accuracy, accuracy_cap(0, 0)) AS accuracy, p.trial, p.has_rules INTO q
      FROM trust_model m JOIN project_ledger p USING (project_id) WHERE m.project_id = p_project;
    IF NOT FOUND THEN RETURN w; END IF;
    k := q.k; lp := q.prior; w.log_likelihoods := q.prior;
    w.generation := q.generation; w.teaches := NOT q.trial; w.ruled := q.has_rules AND NOT q.trial; w.min_answers := CASE WHEN q.confidence IS NOT NULL THEN q.min_answers END;
    w.wanted := q.confidence; w.said := '{}'; w.accuracies := '{}'; w.shares := '{}';
    w.runs := '{}'; w.actors := '{}'; w.classes := '{}'; w.users := '[]'; w.sure := false; w.enough := false;
    FOR r IN SELECT t.id, t.class, t.actor, t.user_id, t.user_ip, y.known, coalesce(y.accuracy, q.accuracy) AS accuracy,
                    CASE WHEN NOT q.confused THEN coalesce(y.log_likelihoods, q.newcomer)
                         WHEN y.log_likelihoods IS NULL THEN q.newcomer[(t.class - 1) * k + 1 : t.class * k]
                         ELSE y.log_likelihoods[(t.class - 1) * k + 1 : t.class * k] END AS says
               FROM task_run t LEFT JOIN reliability y ON y.project_id = t.project_id AND y.actor = t.actor AND y.generation = q.generation
              WHERE t.project_id = p_project AND t.task_id = p_task AND (t.counted AND p_counted OR t.id = ANY (p_also)) ORDER BY t.id LOOP
        CONTINUE WHEN r.actor = p_but;
        n := n + 1; w.runs[n] := r.id;
        IF r.user_id IS NOT NULL THEN w.users := w.users || to_jsonb(r.user_id); END IF;
        IF r.class IS NULL OR r.class > k THEN          -- of an earlier label: it will be found again (weigh_again)
            w.said[n] := NULL; w.accuracies[n] := NULL; w.shares[n] := NULL;
            CONTINUE;
        END IF;
        w.actors := w.actors || r.actor; w.classes := w.classes || r.class;
        w.said[n] := r.class; w.accuracies[n] := r.accuracy; w.shares[n] := 1;
        s := r.says;
        IF r.user_ip IS NOT NULL AND r.known IS NOT TRUE AND r.actor ~ '^[ci]:' THEN
            net := wider_network(r.user_ip); nets := nets || net; share := 1.0 / cardinality(array_positions(nets, net));
            IF share < 1 THEN
                w.shares[n] := share;
                FOR j IN 1 .. cardinality(s) LOOP s[j] := share * s[j]; END LOOP;
            END IF;
        END IF;
        w.log_likelihoods := w.log_likelihoods || s;
        IF q.confused THEN
            FOR j IN 1..k LOOP lp[j] := lp[j] + s[j]; END LOOP;
        ELSE
            lp[r.class] := lp[r.class] + s[1];
        END IF;
    END LOOP;
    IF w.classes = '{}' THEN w.log_likelihoods := NULL; RETURN w; END IF;
    FOR j IN 1..k LOOP
        IF lp[j] > top + 1e-6 THEN top := lp[j]; w.class := j; ELSIF lp[j] > top - 1e-6 THEN w.class := NULL; END IF;
    END LOOP;
    FOR j IN 1..k LOOP                                  -- exp of less than -700 would be an error
        lp[j] := exp(greatest(lp[j] - top, -700)); total := total + lp[j];
    END LOOP;
    FOR j IN 1..k LOOP lp[j] := lp[j] / total; END LOOP;
    w.posterior := lp; w.confidence := 1 / total;
    w.choice := q.choices[w.class];
    w.measured := measured_confidence(q.recalibration, w.confidence);
    w.sure := q.confidence IS NOT NULL AND sureness(w) >= q.confidence AND w.class IS NOT NULL;
    w.enough := w.sure AND n >= q.min_answers;
    RETURN w;
END $$;

-- How many of the results are right of which the model says this: the curve of trust_model.recalibration, straight between its points. Null without one.
CREATE FUNCTION measured_confidence(p_recalibration jsonb, p_value float8) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE x float8[]; y float8[]; n int;
BEGIN
    IF p_recalibration IS NULL OR p_value IS NULL THEN RETURN NULL; END IF;
    x := ARRAY(SELECT jsonb_array_elements_text(p_recalibration->'values')); y := ARRAY(SELECT jsonb_array_elements_text(p_recalibration->'shares'));
    n := width_bucket(p_value, x);
    RETURN CASE n WHEN 0 THEN y[1] WHEN cardinality(x) THEN y[n] ELSE y[n] + (p_value - x[n]) / (x[n + 1] - x[n]) * (y[n + 1] - y[n]) END;
END $$;

-- Whether the model of the volunteers says how sure a result is. Otherwise its confidence is the share of the answers that support the value.
CREATE FUNCTION is_modelled(r result) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$ SELECT r.reason IS NOT NULL OR r.posterior IS NOT NULL $$;

-- What the model says of a result; null where an expert has decided.
CREATE FUNCTION model_value(r result) RETURNS real IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN is_modelled(r) AND r.reason IS DISTINCT FROM 'expert' THEN r.confidence END $$;

-- The confidence of a result that is printed: of what the model says, what was measured by p_at; null while nothing was, and where experts or analyses decided.
CREATE FUNCTION printed_confidence(r result, p_at timestamptz DEFAULT 'infinity') RETURNS real STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF NOT is_modelled(r) THEN RETURN r.confidence; END IF;
    IF NOT r.last_version OR r.reason IS NULL OR r.reason NOT IN ('sure', 'full') THEN RETURN NULL; END IF;
    RETURN (SELECT measured_confidence(q.recalibration, r.confidence) FROM trust_model q
             WHERE q.project_id = r.project_id AND (q.recalibration->>'at')::timestamp AT TIME ZONE 'UTC' <= p_at);
END $$;

-- The same two, to stand for the confidence of the first answer field; null where the model says nothing.
CREATE FUNCTION printed_as_json(r result, p_at timestamptz DEFAULT 'infinity') RETURNS jsonb STABLE LANGUAGE sql AS $$
SELECT CASE WHEN is_modelled(r) THEN jsonb_build_object('confidence', printed_confidence(r, p_at), 'model', model_value(r)) END $$;

-- What decides whether a task has enough answers: what was measured, or else what the model says.
CREATE FUNCTION sureness(w weighed) RETURNS real IMMUTABLE LANGUAGE sql AS $$ SELECT coalesce((w).measured, (w).confidence) $$;

-- How answers were weighed (result.weighed_by), in the order of all counted answers; null for one without a class. accuracies: how accurate their
-- volunteers were taken to be. weights: their shares of a vote. Null: there is no posterior.
CREATE FUNCTION weighing_of(w weighed) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN (w).log_likelihoods IS NOT NULL AND (w).generation IS NOT NULL THEN
    jsonb_build_object('generation', (w).generation, 'classes', (w).said, 'accuracies', (w).accuracies, 'weights', (w).shares) END $$;

-- What a result says of answers with these classes, and the most probable choice. Agreement is the share of pairs that are the same.
CREATE FUNCTION said_by_classes(p_classes smallint[], p_choice jsonb, p_confidence real) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE s said; pairs int := 0; n int := coalesce(cardinality(p_classes), 0);
BEGIN
    s.n_compared := n;
    IF n = 0 THEN RETURN s; END IF;
    FOR i IN 2..n LOOP
        FOR j IN 1 .. i - 1 LOOP pairs := pairs + (p_classes[i] = p_classes[j])::int; END LOOP;
    END LOOP;
    s.agreement := share_of_pairs(pairs, n);
    s.confidence := p_confidence; s.consensus := p_choice;
    RETURN kept_consensus(s);
END $$;

-- Takes back what the last result of a task taught, before one of its answers goes, changes or changes hands, or another result
-- takes its place. The caller holds the ledger row.
CREATE FUNCTION unteach(p_project bigint, p_task bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE x result;
BEGIN
    SELECT * INTO x FROM result WHERE project_id = p_project AND task_id = p_task AND last_version AND generation IS NOT NULL;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM append_evidence(x, -1);
    UPDATE result SET generation = NULL WHERE project_id = p_project AND id = x.id;
END $$;

-- Has the last result of a task teach what it says, if it does not yet and its project is no draft.
CREATE FUNCTION teach(p_project bigint, p_task bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE x result;
BEGIN
    UPDATE result r SET generation = coalesce(m.generation, 0) FROM project_ledger p LEFT JOIN trust_model m USING (project_id)
     WHERE p.project_id = p_project AND NOT p.trial AND r.project_id = p_project AND r.task_id = p_task AND r.last_version AND r.generation IS NULL
       AND (m.generation IS NOT NULL OR r.posterior IS NOT NULL)
    RETURNING r.* INTO x;
    IF FOUND THEN PERFORM append_evidence(x, 1); END IF;
END $$;

-- What a result teaches, or (sign -1) taught: a row of evidence without its key.
CREATE TYPE lesson AS (sign int, actors text[], classes smallint[], posterior real[], reason text, saved int);

-- Of several choices (53_labels.sql) classes number the answers, and posterior has what of each was right.
CREATE FUNCTION lesson_of(x result, p_sign int) RETURNS lesson STABLE LANGUAGE plpgsql AS $$
DECLARE l lesson;
BEGIN
    IF x.generation = 0 THEN
        SELECT array_agg(r.actor ORDER BY nth), array_agg(nth::smallint ORDER BY nth) INTO l.actors, l.classes
          FROM unnest(x.task_run_ids, x.log_likelihoods) WITH ORDINALITY u (run, right_, nth) JOIN task_run r ON r.project_id = x.project_id AND r.id = u.run WHERE right_ IS NOT NULL;
        l.posterior := x.log_likelihoods;
    ELSE
        SELECT array_agg(actor ORDER BY id), array_agg(class ORDER BY id) INTO l.actors, l.classes
          FROM task_run WHERE project_id = x.project_id AND id = ANY (x.task_run_ids) AND class <= cardinality(x.posterior);
        l.posterior := x.posterior;
    END IF;
    l.sign := p_sign; l.actors := coalesce(l.actors, '{}'); l.classes := coalesce(l.classes, '{}'); l.reason := x.reason; l.saved := x.saved;
    RETURN l;
END $$;

CREATE FUNCTION append_evidence(x result, p_sign int) RETURNS void LANGUAGE sql AS $$
INSERT INTO evidence (project_id, task_id, generation, sign, actors, classes, posterior, reason, saved)
SELECT (x).project_id, (x).task_id, (x).generation, l.* FROM lesson_of(x, p_sign) l $$;

-- consensus_of where answers have classes: agreement of the answers, and what the last result says of the first field.
CREATE FUNCTION consensus_of_label(p_project bigint, p_task bigint, p_runs bigint[])
RETURNS TABLE (consensus jsonb, consensus_hash bigint, n_compared int, agreement real, confidence real, further jsonb) STABLE LANGUAGE plpgsql AS $$
DECLARE found smallint[]; infos jsonb[]; fields jsonb; x record; s said;
BEGIN
    SELECT array_agg(r.class) FILTER (WHERE r.class IS NOT NULL), array_agg(r.info ORDER BY r.id), (SELECT answer_fields FROM project WHERE id = p_project)
      INTO found, infos, fields FROM task_run r
     WHERE r.project_id = p_project AND r.task_id = p_task AND CASE WHEN p_runs IS NULL THEN r.counted ELSE r.id = ANY (p_runs) END;
    IF infos IS NULL THEN RETURN; END IF;
    SELECT m.choices[r.class] AS choice, CASE WHEN r.posterior IS NOT NULL THEN r.confidence END AS confidence INTO x
      FROM result r JOIN trust_model m USING (project_id) WHERE r.project_id = p_project AND r.task_id = p_task AND r.last_version;
    s := said_by_classes(found, x.choice, x.confidence);
    RETURN QUERY SELECT s.*, CASE WHEN fields IS NOT NULL THEN further_consensus(fields, infos) END;
END $$;

-- Finds the classes of all answers of a task again, and weighs those of its last result, as after another declaration. What is
-- complete stays complete, and a decision stays. The caller holds the ledger row.
CREATE FUNCTION weigh_again(p_project bigint, p_task bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE w weighed; x result;
BEGIN
    IF NOT EXISTS (SELECT FROM trust_model WHERE project_id = p_project) THEN
        PERFORM unteach(p_project, p_task);
        UPDATE result SET generation = NULL, class = NULL, posterior = NULL, log_likelihoods = NULL, weighed_by = NULL,
               reason = CASE WHEN decided IS NOT NULL THEN reason END
         WHERE project_id = p_project AND task_id = p_task AND last_version AND (reason IS NOT NULL OR posterior IS NOT NULL);
        PERFORM weigh_labels_again(p_project, p_task);
        PERFORM teach(p_project, p_task);
        RETURN;
    END IF;
    PERFORM unteach(p_project, p_task);
    UPDATE task_run r SET class = (class_of(p_project, r.actor, r.info)).class WHERE project_id = p_project AND task_id = p_task;
    SELECT * INTO x FROM result WHERE project_id = p_project AND task_id = p_task AND last_version;
    IF NOT FOUND THEN RETURN; END IF;
    w := weigh_result(p_project, p_task, x);
    UPDATE result SET class = w.class, posterior = w.posterior, log_likelihoods = w.log_likelihoods, confidence = w.confidence,
           weighed_by = coalesce(x.weighed_by, '{}') || weighing_of(w),
           reason = CASE WHEN x.reason IN ('expert', 'analysis') THEN x.reason WHEN w.posterior IS NULL THEN 'none' WHEN x.reason = 'sure' THEN 'sure' ELSE 'full' END
     WHERE project_id = p_project AND id = x.id;
    PERFORM teach(p_project, p_task);
END $$;

-- What the answers of the last result amount to by now. A decision of an expert is its choice for certain, if it is still one. A label of
-- an analysis keeps its probability; where the choices are others, these share the rest.
CREATE FUNCTION weigh_result(p_project bigint, p_task bigint, x result) RETURNS weighed LANGUAGE plpgsql AS $$
DECLARE w weighed := weigh(p_project, p_task, '', x.task_run_ids, false); decided int; k_ int;       -- a task that is open again has counted more since
BEGIN
    IF x.reason IN ('expert', 'analysis') THEN
        SELECT array_position(choices, x.consensus), k INTO decided, k_ FROM trust_model WHERE project_id = p_project;
        IF decided IS NOT NULL THEN
            w.class := decided; w.confidence := x.confidence; w.log_likelihoods := NULL;
            w.posterior := CASE WHEN x.reason = 'expert' THEN certain_of(decided, k_)
                                WHEN cardinality(x.posterior) = k_ AND x.posterior[decided] = x.confidence THEN x.posterior
                                ELSE ARRAY(SELECT CASE j WHEN decided THEN x.confidence ELSE (1 - x.confidence) / (k_ - 1) END FROM generate_series(1, k_) j) END;
        END IF;
    END IF;
    RETURN w;
END $$;

-- The probability of each choice, in the order of the declaration: [{value, probability}]. Null where the choices have changed since.
CREATE FUNCTION posterior_by_choice(p_project bigint, p_generation int, p_posterior real[]) RETURNS jsonb STABLE LANGUAGE sql AS $$
SELECT jsonb_agg(jsonb_build_object('value', c, 'probability', p) ORDER BY j)
  FROM (SELECT choices FROM trust_model WHERE project_id = p_project AND (p_generation IS NULL OR generation = p_generation) UNION ALL
        SELECT ARRAY(SELECT jsonb_array_elements(answer_fields->0->'choices')) FROM project
         WHERE id = p_project AND answer_fields->0->>'type' = 'labels' AND jsonb_array_length(answer_fields->0->'choices') = cardinality(p_posterior)) m,
       unnest(m.choices, p_posterior) WITH ORDINALITY u (c, p, j) WHERE c IS NOT NULL AND p IS NOT NULL $$;
