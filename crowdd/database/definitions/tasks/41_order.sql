-- The order of open tasks by how useful an answer to each is. Priorities carry it, so that every scheduler that follows priorities follows it.
--
-- A rule has by, question, model, column, share and seed, as OrderBody.rule makes it, and counts and scale (read_order_scale): how many open tasks
-- have each predicted value, and 101 quantiles of usefulness, by which priorities are evenly spread.

-- A number from 0 to 1 that nobody chose, always the same for a task and a seed.
CREATE FUNCTION draw(p_task bigint, p_seed bigint) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
SELECT (hashint8extended(p_task, p_seed) & 4294967295) / 4294967296.0::float8 $$;

-- How useful an answer is, for the open ones of these tasks (null: of all) of which that is known; higher comes first.
-- uncertain: the model is not sure of what it predicts. disagreement: the newest predictions of models differ. diverse: few tasks have the
-- predicted value. column: a number in info.
CREATE FUNCTION usefulness(p_project bigint, p_tasks bigint[], p_rule jsonb) RETURNS TABLE (task_id bigint, useful float8) STABLE LANGUAGE plpgsql AS $$
DECLARE asked text := p_rule->>'question'; named text := p_rule->>'model'; seed bigint := (p_rule->>'seed')::bigint;
BEGIN
    CASE p_rule->>'by'
    WHEN 'column' THEN
        RETURN QUERY SELECT l.task_id, CASE WHEN jsonb_typeof(t.info->(p_rule->>'column')) = 'number' THEN (t.info->>(p_rule->>'column'))::float8 END
                       FROM chosen_tasks(p_project, p_tasks) l JOIN task t ON t.project_id = p_project AND t.id = l.task_id
                      WHERE l.open AND jsonb_typeof(t.info->(p_rule->>'column')) = 'number';
    WHEN 'disagreement' THEN
        RETURN QUERY SELECT l.task_id, v.differ
                       FROM chosen_tasks(p_project, p_tasks) l
                      CROSS JOIN LATERAL (SELECT 1 - max(n) / sum(n) AS differ FROM (
                            SELECT count(*)::float8 AS n FROM (
                                SELECT DISTINCT ON (model) model, value FROM prediction x
                                 WHERE x.project_id = p_project AND x.task_id = l.task_id AND x.question = asked ORDER BY model, id DESC) m
                             GROUP BY value) c) v
                      WHERE l.open AND v.differ IS NOT NULL;
    ELSE
        RETURN QUERY SELECT l.task_id, CASE p_rule->>'by' WHEN 'uncertain' THEN 1 - v.probability
                                            ELSE -draw(l.task_id, seed + 2) * coalesce((p_rule->'counts'->>left(v.value::text, 200))::int, 1) END
                       FROM chosen_tasks(p_project, p_tasks) l
                      CROSS JOIN LATERAL (SELECT value, probability FROM prediction x
                                           WHERE x.project_id = p_project AND x.task_id = l.task_id AND x.question = asked AND x.model = named
                                           ORDER BY id DESC LIMIT 1) v
                      WHERE l.open AND (v.probability IS NOT NULL OR p_rule->>'by' = 'diverse');
    END CASE;
END $$;

-- The priority of a task: where its usefulness stands among that of all others, or by chance if nothing is known of it or it is one of the share
-- that shows no order.
CREATE FUNCTION ordered_priority(p_task bigint, p_useful float8, p_rule jsonb, p_scale float8[]) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE seed bigint := (p_rule->>'seed')::bigint; at int := width_bucket(p_useful, p_scale);
BEGIN
    IF p_useful IS NULL OR draw(p_task, seed) < (p_rule->>'share')::float8 THEN RETURN round(draw(p_task, seed + 1)::numeric, 6); END IF;
    IF at = 0 OR at > 100 THEN RETURN (at > 0)::int; END IF;
    RETURN round(((at - 1 + CASE WHEN p_scale[at + 1] > p_scale[at] THEN (p_useful - p_scale[at]) / (p_scale[at + 1] - p_scale[at]) ELSE 0 END) / 100)::numeric, 6);
END $$;

-- What a rule needs to know of the whole project, from all its tasks or 20,000 drawn at random, and from those with the newest predictions.
-- scale: null if nothing is known of any open one of them.
CREATE FUNCTION read_order_scale(p_project bigint, p_rule jsonb, OUT counts jsonb, OUT scale float8[]) STABLE LANGUAGE plpgsql AS $$
DECLARE n int; drawn bigint[];
BEGIN
    SELECT n_ordinals INTO n FROM project_ledger WHERE project_id = p_project;
    IF n > 20000 THEN
        drawn := ARRAY(SELECT l.task_id FROM generate_series(1, 20000) g
                        CROSS JOIN LATERAL (SELECT task_id FROM task_ledger WHERE project_id = p_project AND ordinal = 1 + floor(draw(g, 0) * n)::int OFFSET 0) l UNION
                       SELECT task_id FROM (SELECT task_id FROM prediction WHERE project_id = p_project ORDER BY id DESC LIMIT 1000) x);
    END IF;
    IF p_rule->>'by' = 'diverse' THEN
        SELECT jsonb_object_agg(said, times) INTO counts FROM (
            SELECT left(v.value::text, 200) AS said, count(*) AS times
              FROM chosen_tasks(p_project, drawn) l
             CROSS JOIN LATERAL (SELECT value FROM prediction x WHERE x.project_id = p_project AND x.task_id = l.task_id AND x.question = p_rule->>'question'
                                    AND x.model = p_rule->>'model' ORDER BY id DESC LIMIT 1) v
             WHERE l.open GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1000) c;
    END IF;
    SELECT percentile_cont(ARRAY(SELECT q / 100.0::float8 FROM generate_series(0, 100) q)) WITHIN GROUP (ORDER BY useful) INTO scale
      FROM usefulness(p_project, drawn, p_rule || jsonb_build_object('counts', counts));
END $$;

-- Gives open ones of some tasks their place in the order, as set_priority does with one priority for all.
CREATE FUNCTION set_order(p_project bigint, p_tasks bigint[], p_rule jsonb) RETURNS effect LANGUAGE plpgsql AS $$
DECLARE e effect := (0, 0, 0, 0); scale float8[] := ARRAY(SELECT s::float8 FROM jsonb_array_elements_text(p_rule->'scale') WITH ORDINALITY x (s, nth) ORDER BY nth);
BEGIN
    UPDATE project_ledger SET max_rank = 0 WHERE project_id = p_project AND max_rank < 0;
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) ORDER BY task_id FOR UPDATE;
    WITH placed AS MATERIALIZED (
        SELECT l.task_id, ordered_priority(l.task_id, u.useful, p_rule, scale) AS place
          FROM chosen_tasks(p_project, p_tasks) l LEFT JOIN usefulness(p_project, p_tasks, p_rule) u USING (task_id) WHERE l.open),
    kept AS (
        SELECT keep_version('task_ledger', to_jsonb(l), false) FROM task_ledger l JOIN placed p USING (task_id) WHERE l.project_id = p_project AND l.priority_0 <> p.place)
    UPDATE task_ledger l SET priority_0 = p.place, requeued_xid = stamp(p_project), changed_xid = change_stamp()
      FROM placed p WHERE l.project_id = p_project AND l.task_id = p.task_id AND l.priority_0 <> p.place AND (SELECT count(*) FROM kept) >= 0;
    GET DIAGNOSTICS e.tasks = ROW_COUNT;
    RETURN e;
END $$;
