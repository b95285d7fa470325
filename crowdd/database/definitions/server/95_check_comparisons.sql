-- Whether every result that is still to be compared is due, and the sums of alpha (29_comparison.sql), in a running system. What texts
-- and marks say together is not worked out again: their counters are compared with what is stored (94_check_outcomes.sql).

CREATE FUNCTION check_comparisons(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
SELECT p_project, 'results that wait to be compared and are not due', 'task ' || x.task_id, 1::numeric, 0::numeric
  FROM result x JOIN task_ledger l USING (project_id, task_id) JOIN project p ON p.id = x.project_id
 WHERE x.project_id = p_project AND x.last_version AND l.done AND p.answer_fields IS NOT NULL AND (x.n_compared IS NULL OR x.further @> '[null]' OR x.alpha IS NULL)
   AND NOT EXISTS (SELECT FROM comparison_due d WHERE d.project_id = p_project AND d.task_id = x.task_id AND d.result_id = x.id)
   AND NOT EXISTS (SELECT FROM agreement_due d WHERE d.project_id = p_project)
UNION ALL
SELECT p_project, 'results that could not be compared and are not tried again', 'task ' || task_id, 1, 0
  FROM comparison_due WHERE project_id = p_project AND failure IS NOT NULL AND retry_at IS NULL
UNION ALL
SELECT p_project, 'chance agreement that could not be computed and is not tried again', 'field ' || field, 1, 0
  FROM alpha_expected WHERE project_id = p_project AND failure IS NOT NULL AND retry_at IS NULL ORDER BY 2, 3 $$;

CREATE FUNCTION repair_comparisons(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t bigint;
BEGIN
    FOR t IN SELECT substring(key FROM 'task (\d+)')::bigint FROM check_comparisons(p_project, p_now) WHERE key LIKE 'task %' ORDER BY 1 LOOP
        PERFORM compare_result(p_project, t);
    END LOOP;
    PERFORM retry_comparisons(p_project, p_now);
END $$;

CREATE FUNCTION recounted_alpha(p_project bigint) RETURNS TABLE (field smallint, part text, amount numeric) STABLE LANGUAGE sql AS $$
SELECT f.nth::smallint, e.key, sum(e.value::numeric) FROM result r, jsonb_array_elements(r.alpha) WITH ORDINALITY f (sums, nth), jsonb_each_text(nullif(f.sums, 'null')) e
 WHERE r.project_id = p_project AND r.last_version AND r.alpha IS NOT NULL GROUP BY 1, 2 HAVING sum(e.value::numeric) <> 0 $$;

CREATE FUNCTION check_alpha(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
SELECT p_project, 'alpha_sum.amount', concat_ws(' ', 'field ' || field, part), coalesce(s.amount, 0), coalesce(c.amount, 0)
  FROM alpha_sums(p_project) s FULL JOIN recounted_alpha(p_project) c USING (field, part)
 WHERE coalesce(s.amount, 0) <> coalesce(c.amount, 0) ORDER BY 3 $$;

-- One statement sees the rows and what is not folded yet, so that both together are exact.
CREATE FUNCTION repair_alpha(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM project WHERE id = p_project FOR UPDATE;       -- a fold in between waits
    WITH wrong AS MATERIALIZED (SELECT field, part, coalesce(c.amount, 0) - coalesce(s.amount, 0) AS amount FROM alpha_sums(p_project) s FULL JOIN recounted_alpha(p_project) c USING (field, part))
    INSERT INTO alpha_delta (project_id, field, part, amount) SELECT p_project, field, part, amount FROM wrong WHERE amount <> 0;
END $$;
