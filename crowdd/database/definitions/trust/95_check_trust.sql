-- Recounts what is known of volunteers and why tasks were complete (52 to 54), in a running system. Answers that come in meanwhile cause
-- no false alarm: a transaction that makes or ends a result also appends what it teaches.

-- The classes of answers, and what last results say by the numbers that were kept with them: posterior, most probable class, confidence and
-- reason. Unless the project is due to be compared again.
CREATE FUNCTION check_weighing(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH m AS MATERIALIZED (SELECT * FROM trust_model WHERE project_id = p_project AND NOT EXISTS (SELECT FROM agreement_due WHERE project_id = p_project)),
run AS (
    SELECT 'answers with their class' AS what, 'answer ' || r.id AS key, (r.class IS NOT DISTINCT FROM choice_position(m.choices, r.info #> m.path))::int AS stored, 1 AS counted
      FROM m JOIN task_run r USING (project_id)
), weighed AS (
    SELECT x.task_id, x.class, x.confidence, x.posterior, x.reason, again.posterior AS again
      FROM m JOIN result x USING (project_id) CROSS JOIN LATERAL (
           SELECT array_agg(class ORDER BY id) AS classes FROM task_run r WHERE r.project_id = x.project_id AND r.id = ANY (x.task_run_ids) AND r.class IS NOT NULL) c
     CROSS JOIN LATERAL posterior_again(x.log_likelihoods, c.classes, cardinality(x.posterior), m.confused) again (posterior)
     WHERE x.last_version AND x.reason IN ('sure', 'full', 'none')
), result AS (
    SELECT v.what, 'task ' || task_id, v.stored, 1 FROM weighed CROSS JOIN LATERAL (
        VALUES ('results with their posterior', alike(posterior, again)::int),
               ('results with their most probable class', CASE WHEN posterior IS NULL THEN (class IS NULL)::int
                                                               ELSE (abs(confidence - (SELECT max(p) FROM unnest(posterior) p)) < 1e-5 AND coalesce(posterior[class] >= confidence - 1e-5, true))::int END),
               ('results without a class and their reason', ((posterior IS NULL) = (reason = 'none'))::int)) v (what, stored)
), task AS (
    SELECT 'task_ledger.n_answers', 'task ' || l.task_id, l.n_answers, CASE WHEN l.done THEN l.answers ELSE wanted_so_far(l, s.min_answers) END
      FROM task_ledger l CROSS JOIN stopping_of(p_project) s WHERE l.project_id = p_project AND l.max_answers IS NOT NULL AND NOT l.retired AND (l.done OR s.min_answers IS NOT NULL)
       AND NOT EXISTS (SELECT FROM queue_item q WHERE q.project_id = p_project AND q.name = 'change_tasks' AND q.state IN ('waiting', 'running'))
)
SELECT p_project, d.* FROM (SELECT * FROM run UNION ALL SELECT * FROM result UNION ALL SELECT * FROM task) d (what, key, stored, counted) WHERE stored <> counted ORDER BY 3, 2 $$;

-- The posterior that these numbers give (result.log_likelihoods); null without answers that have a class.
CREATE FUNCTION posterior_again(p_numbers real[], p_classes smallint[], p_k int, p_confused boolean) RETURNS float8[] IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE lp float8[]; n int := coalesce(cardinality(p_classes), 0); top float8 := '-infinity'; total float8 := 0;
BEGIN
    IF n = 0 THEN RETURN NULL; END IF;
    IF cardinality(p_numbers) IS DISTINCT FROM p_k + n * (CASE WHEN p_confused THEN p_k ELSE 1 END) THEN RETURN '{}'; END IF;
    lp := p_numbers[1:p_k];
    FOR i IN 1..n LOOP
        IF p_confused THEN
            FOR j IN 1..p_k LOOP lp[j] := lp[j] + p_numbers[i * p_k + j]; END LOOP;
        ELSE
            lp[p_classes[i]] := lp[p_classes[i]] + p_numbers[p_k + i];
        END IF;
    END LOOP;
    FOR j IN 1..p_k LOOP top := greatest(top, lp[j]); END LOOP;
    FOR j IN 1..p_k LOOP lp[j] := exp(greatest(lp[j] - top, -700)); total := total + lp[j]; END LOOP;
    FOR j IN 1..p_k LOOP lp[j] := lp[j] / total; END LOOP;
    RETURN lp;
END $$;

CREATE FUNCTION alike(p_stored real[], p_again float8[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT (p_stored IS NULL) = (p_again IS NULL) AND coalesce(cardinality(p_stored) = cardinality(p_again), true)
   AND NOT EXISTS (SELECT FROM unnest(p_stored, p_again) u (a, b) WHERE (abs(a - b) < 1e-5) IS NOT TRUE) $$;

-- The classes are found and the results weighed again in the background (compare_results), by what is known by then; tasks follow at once.
CREATE FUNCTION repair_weighing(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t bigint;
BEGIN
    FOR t IN SELECT DISTINCT coalesce(r.task_id, substring(d.key FROM 'task (\d+)')::bigint) FROM check_weighing(p_project, p_now) d
               LEFT JOIN task_run r ON r.project_id = p_project AND r.id = substring(d.key FROM 'answer (\d+)')::bigint ORDER BY 1 LOOP
        PERFORM compare_result(p_project, t);
        PERFORM reconcile_task(p_project, t, false, p_now);
    END LOOP;
END $$;

-- The generation of what answers of a project teach now: of its model, or 0.
CREATE FUNCTION teaching_generation(p_project bigint) RETURNS int STABLE LANGUAGE sql AS $$
SELECT coalesce((SELECT generation FROM trust_model WHERE project_id = p_project), 0) $$;

-- What the last results of a project and the answers to its gold tasks have taught, by what it is added to (trust_model, or a volunteer). Of
-- volunteers whose counts were halved nothing is listed.
CREATE FUNCTION recounted_trust(p_project bigint) RETURNS TABLE (what text, key text, counted float8) STABLE LANGUAGE sql AS $$
SELECT p.* FROM teaching_generation(p_project) g
 CROSS JOIN LATERAL (
    SELECT * FROM trust_parts(ARRAY(SELECT lesson_of(r, 1) FROM result r WHERE r.project_id = p_project AND r.last_version AND r.generation = g)) UNION ALL
    SELECT * FROM gold_parts(ARRAY(SELECT ROW(1, r.actor, r.is_right)::gold_lesson FROM task_run r
                                    WHERE r.project_id = p_project AND r.taught IS NOT NULL AND (r.taught->>'generation')::int = g))) p
 WHERE g > 0 OR p.what LIKE 'reliability.%' $$;

-- What an answer to a gold task teaches, or (sign -1) taught.
CREATE TYPE gold_lesson AS (sign int, actor text, is_right boolean);

CREATE FUNCTION gold_parts(p_lessons gold_lesson[]) RETURNS TABLE (what text, key text, counted float8) STABLE LANGUAGE sql AS $$
SELECT v.what, v.key, sum(x.sign * v.n)::float8 FROM unnest(p_lessons) x CROSS JOIN LATERAL (
    VALUES ('trust_model.gold_seen', '', 1), ('trust_model.gold_right', '', x.is_right::int),
           ('reliability.gold_seen', x.actor, 1), ('reliability.gold_right', x.actor, x.is_right::int)) v (what, key, n) GROUP BY 1, 2 $$;

CREATE FUNCTION trust_parts(p_lessons lesson[]) RETURNS TABLE (what text, key text, counted float8) STABLE LANGUAGE sql AS $$
WITH x AS MATERIALIZED (SELECT * FROM unnest(p_lessons))
SELECT v.what, v.key, sum(x.sign * v.n)::float8 FROM x CROSS JOIN LATERAL (
    SELECT 'trust_model.tasks', '', 1::float8 WHERE x.posterior IS NOT NULL UNION ALL SELECT 'trust_model.saved', '', x.saved UNION ALL
    SELECT 'trust_model.' || x.reason, '', 1 WHERE x.reason IN ('sure', 'full', 'none') UNION ALL
    SELECT 'trust_model.class_sums', 'class ' || j, exact(p) FROM unnest(x.posterior) WITH ORDINALITY c (p, j) UNION ALL
    SELECT 'trust_model.confusion_sums', 'answer ' || c || ', truth ' || j, exact(p) FROM unnest(x.classes) c, unnest(x.posterior) WITH ORDINALITY d (p, j) UNION ALL
    SELECT 'trust_model.peer_right', '', exact(x.posterior[c]) FROM unnest(x.classes) c UNION ALL SELECT 'trust_model.peer_seen', '', 1 FROM unnest(x.classes) UNION ALL
    SELECT 'reliability.peer_right', actor, exact(x.posterior[c]) FROM unnest(x.actors, x.classes) u (actor, c) UNION ALL
    SELECT 'reliability.peer_seen', actor, 1 FROM unnest(x.actors) u (actor)) v (what, key, n) GROUP BY 1, 2 $$;

-- What is stored, folded or not.
CREATE FUNCTION stored_trust(p_project bigint) RETURNS TABLE (what text, key text, stored float8) STABLE LANGUAGE sql AS $$
SELECT what, key, sum(n)::float8 FROM (
    SELECT v.* FROM trust_model m CROSS JOIN LATERAL (
        VALUES ('trust_model.tasks', '', m.tasks::float8), ('trust_model.saved', '', m.saved), ('trust_model.sure', '', m.sure), ('trust_model.full', '', m."full"),
               ('trust_model.none', '', m."none"), ('trust_model.peer_right', '', m.peer_right), ('trust_model.peer_seen', '', m.peer_seen),
               ('trust_model.gold_right', '', m.gold_right), ('trust_model.gold_seen', '', m.gold_seen) UNION ALL
        SELECT 'trust_model.class_sums', 'class ' || j, n FROM unnest(m.class_sums) WITH ORDINALITY c (n, j) UNION ALL
        SELECT 'trust_model.confusion_sums', 'answer ' || ((c - 1) / m.k + 1) || ', truth ' || ((c - 1) % m.k + 1), n FROM unnest(m.confusion_sums) WITH ORDINALITY d (n, c)) v (what, key, n)
     WHERE m.project_id = p_project UNION ALL
    SELECT v.* FROM reliability r
     CROSS JOIN LATERAL (VALUES ('reliability.peer_right', r.actor, r.peer_right), ('reliability.peer_seen', r.actor, r.peer_seen),
                                 ('reliability.gold_right', r.actor, r.gold_right), ('reliability.gold_seen', r.actor, r.gold_seen)) v
     WHERE r.project_id = p_project AND r.generation = teaching_generation(p_project) UNION ALL
    SELECT p.* FROM teaching_generation(p_project) g
     CROSS JOIN LATERAL (
        SELECT * FROM trust_parts(ARRAY(SELECT ROW(e.sign, e.actors, e.classes, e.posterior, e.reason, e.saved)::lesson FROM evidence e
                                         WHERE e.project_id = p_project AND e.generation = g AND NOT e.gold)) UNION ALL
        SELECT * FROM gold_parts(ARRAY(SELECT ROW(e.sign, e.actors[1], e.is_right)::gold_lesson FROM evidence e
                                        WHERE e.project_id = p_project AND e.generation = g AND e.gold))) p
     WHERE g > 0 OR p.what LIKE 'reliability.%') s GROUP BY 1, 2 $$;

CREATE FUNCTION trust_differences(p_project bigint) RETURNS TABLE (what text, key text, stored float8, counted float8) STABLE LANGUAGE sql AS $$
SELECT what, key, coalesce(stored, 0), coalesce(counted, 0) FROM stored_trust(p_project) s FULL JOIN recounted_trust(p_project) c USING (what, key)
 WHERE coalesce(stored, 0) <> coalesce(counted, 0) AND NOT EXISTS (SELECT FROM agreement_due WHERE project_id = p_project)
   AND NOT (what LIKE 'reliability.%' AND EXISTS (SELECT FROM reliability r WHERE r.project_id = p_project AND r.actor = key AND r.halved > 0))
   AND (what <> 'trust_model.confusion_sums' OR (SELECT confused FROM trust_model WHERE project_id = p_project)) ORDER BY 2, 3 $$;

CREATE FUNCTION check_trust(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
SELECT p_project, what, key, stored::numeric, counted::numeric FROM trust_differences(p_project) $$;

-- Adds the differences to what is folded, as double precision: numeric would round them. Volunteers whose counts were halved keep theirs.
CREATE FUNCTION repair_trust(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE q trust_model; d record; has_model boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('fold_evidence', p_project));
    SELECT * INTO q FROM trust_model WHERE project_id = p_project FOR UPDATE;
    has_model := FOUND;
    FOR d IN SELECT key, jsonb_object_agg(what, counted - stored) AS more FROM trust_differences(p_project) WHERE what LIKE 'reliability.%' GROUP BY key LOOP
        PERFORM fold_volunteer(p_project, q, has_model, d.key, coalesce((d.more->>'reliability.gold_right')::float8, 0),
                               coalesce((d.more->>'reliability.gold_seen')::float8, 0), coalesce((d.more->>'reliability.peer_right')::float8, 0),
                               coalesce((d.more->>'reliability.peer_seen')::float8, 0), NULL);
    END LOOP;
    IF NOT has_model THEN RETURN; END IF;
    FOR d IN SELECT what, key, counted - stored AS more FROM trust_differences(p_project) WHERE what LIKE 'trust_model.%' LOOP
        CASE d.what
        WHEN 'trust_model.tasks' THEN q.tasks := q.tasks + d.more;
        WHEN 'trust_model.saved' THEN q.saved := q.saved + d.more;
        WHEN 'trust_model.sure' THEN q.sure := q.sure + d.more;
        WHEN 'trust_model.full' THEN q."full" := q."full" + d.more;
        WHEN 'trust_model.none' THEN q."none" := q."none" + d.more;
        WHEN 'trust_model.peer_right' THEN q.peer_right := q.peer_right + d.more;
        WHEN 'trust_model.peer_seen' THEN q.peer_seen := q.peer_seen + d.more;
        WHEN 'trust_model.gold_right' THEN q.gold_right := q.gold_right + d.more;
        WHEN 'trust_model.gold_seen' THEN q.gold_seen := q.gold_seen + d.more;
        WHEN 'trust_model.class_sums' THEN q.class_sums[substr(d.key, 7)::int] := coalesce(q.class_sums[substr(d.key, 7)::int], 0) + d.more;
        WHEN 'trust_model.confusion_sums' THEN
            q.confusion_sums[(substring(d.key FROM '\d+')::int - 1) * q.k + substring(d.key FROM '\d+$')::int]
                := q.confusion_sums[(substring(d.key FROM '\d+')::int - 1) * q.k + substring(d.key FROM '\d+$')::int] + d.more;
        END CASE;
    END LOOP;
    q := published(q);
    UPDATE trust_model SET prior = q.prior, newcomer = q.newcomer, accuracy = q.accuracy, guarded = q.guarded, tasks = q.tasks, class_sums = q.class_sums,
           confusion_sums = q.confusion_sums, gold_right = q.gold_right, gold_seen = q.gold_seen, peer_right = q.peer_right, peer_seen = q.peer_seen, saved = q.saved, sure = q.sure, "full" = q."full", "none" = q."none",
           published_upto = '' WHERE project_id = p_project;
END $$;
