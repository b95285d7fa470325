-- What is known of volunteers, and what it makes of their answers (docs/projects/trust.md has the formulas).
--
-- A project whose first answer field is a label has a row in trust_model. Everything hard is worked out by the fold
-- (54_trust_fold.sql): reliability.log_likelihoods are ready when an answer is weighed (53_posterior.sql). Numbers of classes begin
-- with 1. A table of numbers by answer and truth has that of answer l and truth j at (l - 1) * k + j.

-- What a probability adds to sums: the nearest multiple of 2^-20, so that sums are exact in any order.
CREATE FUNCTION exact(p_probability real) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$ SELECT round(p_probability::float8 * 1048576) / 1048576 $$;

-- The mean accuracy of a project under the prior of 50 imagined answers, not yet bounded. An answer to a gold task counts 1, another ½.
CREATE FUNCTION raw_mean(q trust_model) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
SELECT (50 * 0.75 + (q).gold_right + (q).peer_right / 2) / (50 + (q).gold_seen + (q).peer_seen / 2) $$;

CREATE FUNCTION mean_accuracy(q trust_model) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
SELECT least(greatest(raw_mean(q), 1.0 / (q).k + 0.02), 0.9) $$;

-- Whether volunteers agree hardly more than by chance, and gold tasks do not tell who is right.
CREATE FUNCTION is_guarded(q trust_model) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT (q).gold_seen < 100 AND (q).gold_seen + (q).peer_seen / 2 >= 100 AND raw_mean(q) < 1.0 / (q).k + 0.3 * (1 - 1.0 / (q).k) $$;

-- ln of the class frequencies, smoothed by 20 imagined tasks, none below a quarter of an even share.
CREATE FUNCTION class_prior(q trust_model) RETURNS real[] IMMUTABLE LANGUAGE sql AS $$
SELECT array_agg(ln(p / total)::real ORDER BY j)
  FROM (SELECT j, p, sum(p) OVER () AS total
          FROM (SELECT j, greatest((f + 20.0 / (q).k) / (sum(f) OVER () + 20), 0.25 / (q).k) AS p
                  FROM (SELECT j, coalesce((q).class_sums[j], 0) AS f FROM generate_series(1, (q).k) j) s) b) n $$;

-- How accurate a volunteer may be held to be, by what is known of them.
CREATE FUNCTION accuracy_cap(p_gold_seen float8, p_peer_seen float8) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_gold_seen >= 5 THEN 0.95 WHEN p_peer_seen >= 10 THEN 0.90 ELSE 0.70 END::float8 $$;

-- ln P(answer | truth), or without confusions one number: ln(a (k - 1) / (1 - a)). p_own: the volunteer's confusions; null: none.
-- They are drawn towards those of the project, as eight imagined answers. An answer never speaks against itself.
CREATE FUNCTION likelihoods(q trust_model, p_accuracy float8, p_cap float8, p_own float8[]) RETURNS real[] IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE k int := q.k; m float8[] := q.confusion_sums; t float8[]; r real[]; errors float8; own float8; least_ float8 := (1 - p_cap) / (2 * (q.k - 1)); c int; x float8; top float8;
BEGIN
    IF NOT q.confused THEN RETURN ARRAY[ln(p_accuracy * (k - 1) / (1 - p_accuracy))]; END IF;
    t := array_fill(0::float8, ARRAY[k * k]); r := array_fill(0::real, ARRAY[k * k]);
    FOR j IN 1..k LOOP
        errors := 10; own := 8;
        FOR l IN 1..k LOOP
            c := (l - 1) * k + j;
            IF l <> j THEN errors := errors + m[c]; END IF;
            IF p_own IS NOT NULL THEN own := own + p_own[c]; END IF;
        END LOOP;
        FOR l IN 1..k LOOP
            c := (l - 1) * k + j;
            x := CASE WHEN l = j THEN p_accuracy ELSE (1 - p_accuracy) * (m[c] + 10.0 / (k - 1)) / errors END;
            IF p_own IS NOT NULL THEN x := (8 * x + p_own[c]) / own; END IF;
            t[c] := x;
        END LOOP;
    END LOOP;
    FOR l IN 1..k LOOP
        top := least(t[(l - 1) * k + l], p_cap);
        FOR j IN 1..k LOOP
            c := (l - 1) * k + j;
            r[c] := ln(CASE WHEN l = j THEN top ELSE greatest(least(t[c], top), least_) END);
        END LOOP;
    END LOOP;
    RETURN r;
END $$;

-- Works out what a volunteer's answers are worth, from the counts of the row: accuracy, log_likelihoods, known and counts.
CREATE FUNCTION worked_out(q trust_model, r reliability) RETURNS reliability IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE peer_right float8 := CASE WHEN q.guarded THEN 0 ELSE r.peer_right END; peer_seen float8 := CASE WHEN q.guarded THEN 0 ELSE r.peer_seen END;
        cap float8 := accuracy_cap(r.gold_seen, CASE WHEN q.guarded THEN 0 ELSE r.peer_seen END); a float8;
BEGIN
    a := least(greatest((8 * mean_accuracy(q) + r.gold_right + peer_right) / (8 + r.gold_seen + peer_seen), 1.0 / q.k), cap);
    r.accuracy := a;
    r.log_likelihoods := likelihoods(q, a, cap, CASE WHEN NOT q.guarded THEN r.confusions END);
    r.known := r.gold_seen >= 5 OR peer_seen >= 10;
    r.counts := r.lifted OR r.gold_seen < 5 AND peer_seen < 20 OR a > 1.0 / q.k + 0.05;
    RETURN r;
END $$;

-- What a volunteer's answers would be worth if they had not answered one gold task (p_taught: task_run.taught of that answer, p_right: whether it
-- was right), nor anybody else (p_all_right of p_all_seen answers to it). So what judges an answer was not learned from its truth. An answer counts
-- whole here, also if it has been halved since.
CREATE FUNCTION without_gold(q trust_model, r reliability, p_taught jsonb, p_right boolean, p_all_right bigint, p_all_seen bigint) RETURNS reliability IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE cell int := ((p_taught->>'class')::int - 1) * q.k + (p_taught->>'truth')::int;
BEGIN
    q.gold_right := q.gold_right - p_all_right; q.gold_seen := q.gold_seen - p_all_seen;
    IF r.actor IS NULL THEN
        r.log_likelihoods := (published(q)).newcomer;
        RETURN r;
    END IF;
    IF p_taught IS NOT NULL THEN
        r.gold_right := greatest(0, r.gold_right - p_right::int); r.gold_seen := greatest(0, r.gold_seen - 1);
        IF cell <= cardinality(r.confusions) THEN r.confusions[cell] := greatest(0, r.confusions[cell] - 1); END IF;
    END IF;
    RETURN worked_out(q, r);
END $$;

-- Works out what holds for the whole project, from its sums: prior, accuracy, guarded and newcomer.
CREATE FUNCTION published(q trust_model) RETURNS trust_model IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    q.prior := class_prior(q); q.accuracy := mean_accuracy(q); q.guarded := is_guarded(q);
    q.newcomer := likelihoods(q, least(mean_accuracy(q), accuracy_cap(0, 0)), accuracy_cap(0, 0), NULL);
    RETURN q;
END $$;

-- How many tasks one transaction may change: what is larger is changed by the queue, in transactions of its own (AT_ONCE in
-- crowdd/features/tasks/settings.py).
CREATE FUNCTION tasks_at_once() RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT 5000 $$;

-- The model of a project follows its declaration. Another label: learning starts over, and the answers are read again
-- (compare_results). The caller holds the project. It may have the tasks follow in the same transaction: so they are locked before the model,
-- for which an answer of a new class waits (new_class).
CREATE FUNCTION follow_label(p_project bigint, p_label jsonb, p_trust jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE q trust_model; c jsonb[] := ARRAY(SELECT jsonb_array_elements(p_label->'choices')); known boolean;
BEGIN
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;        -- no import meanwhile: new tasks follow info.trust
    IF (SELECT n_ordinals FROM project_ledger WHERE project_id = p_project) <= tasks_at_once() THEN
        PERFORM FROM task_ledger WHERE project_id = p_project ORDER BY task_id FOR UPDATE;
    END IF;
    SELECT * INTO q FROM trust_model WHERE project_id = p_project FOR UPDATE;
    known := FOUND;
    IF p_label IS NULL THEN
        DELETE FROM trust_model WHERE project_id = p_project;
    ELSIF known AND (q.path, q.fixed) = ((p_label->>'path')::text[], (p_label->>'fixed')::boolean) AND (c = q.choices OR NOT q.fixed AND c <@ q.choices) THEN
        UPDATE trust_model SET min_answers = (p_trust->>'min_answers')::int, confidence = (p_trust->>'confidence')::real WHERE project_id = p_project;
        RETURN;
    ELSE
        DELETE FROM trust_model WHERE project_id = p_project;
        q := new_model(p_project, p_label, p_trust);
        INSERT INTO trust_model SELECT q.*;
    END IF;
    UPDATE project_ledger SET has_label = p_label IS NOT NULL WHERE project_id = p_project AND has_label <> (p_label IS NOT NULL);
    INSERT INTO agreement_due (project_id) SELECT p_project WHERE known OR EXISTS (SELECT FROM task_run WHERE project_id = p_project)
        ON CONFLICT (project_id) DO UPDATE SET after_task = 0, xact = NULL;
END $$;

CREATE FUNCTION new_model(p_project bigint, p_label jsonb, p_trust jsonb) RETURNS trust_model VOLATILE LANGUAGE plpgsql AS $$
DECLARE q trust_model; cells int;
BEGIN
    q.project_id := p_project; q.generation := nextval('trust_generation');
    q.path := (p_label->>'path')::text[]; q.fixed := p_label->>'fixed';
    q.choices := ARRAY(SELECT jsonb_array_elements(p_label->'choices'));
    q.k := greatest(2, cardinality(q.choices));
    q.confused := q.fixed AND q.k <= 10;
    cells := CASE WHEN q.confused THEN q.k * q.k ELSE 0 END;
    q.min_answers := p_trust->>'min_answers'; q.confidence := p_trust->>'confidence';
    q.tasks := 0; q.class_sums := array_fill(0::float8, ARRAY[q.k::int]); q.confusion_sums := array_fill(0::float8, ARRAY[cells]);
    q.gold_right := 0; q.gold_seen := 0; q.peer_right := 0; q.peer_seen := 0; q.saved := 0; q.sure := 0; q."full" := 0; q."none" := 0; q.published_tasks := 0;
    RETURN published(q);
END $$;

-- How many answers each task of a project gets at first: null where redundancy is not adaptive.
CREATE FUNCTION first_wanted(p_project bigint) RETURNS int STABLE LANGUAGE sql AS $$
SELECT min_answers FROM trust_model WHERE project_id = p_project AND confidence IS NOT NULL $$;

-- What n_answers of a task becomes when its owner sets it to p_n. p_minimum as first_wanted says. reconcile_task decides the rest.
CREATE FUNCTION redundancy_to(t task_ledger, p_n int, p_minimum int) RETURNS int STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF t.done AND t.max_answers IS NOT NULL AND ((SELECT reason IN ('sure', 'expert', 'analysis') FROM result
        WHERE project_id = t.project_id AND task_id = t.task_id AND last_version) OR is_ruled(t)) THEN RETURN t.answers; END IF;
    IF p_minimum IS NULL OR p_n > 50 THEN RETURN p_n; END IF;
    IF t.done THEN RETURN CASE WHEN p_n > t.answers THEN t.answers + 1 ELSE t.answers END; END IF;
    RETURN least(p_n, greatest(t.n_answers, p_minimum));
END $$;
