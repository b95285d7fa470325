-- What changes of tasks (40_changes.sql) would do, without doing it. p_tasks null: all tasks of the project.

-- Whether a task would be complete if some of its answers and leases were removed and n_answers changed. Uncounted
-- answers that may count take their place (p_but: the volunteer whose answers and leases are removed).
CREATE FUNCTION would_be_complete(t task_ledger, p_n int, p_counted_gone int, p_but text, p_leases_gone int) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT is_complete(t.answers - p_counted_gone + CASE WHEN t.retired OR t.uncounted = 0 THEN 0 ELSE least(countable(t.project_id, t.task_id, p_but), greatest(0,
           p_n - t.answers + p_counted_gone - CASE t.mode WHEN 'unlimited' THEN 0 ELSE t.leases - p_leases_gone END)) END, p_n) $$;

-- The tasks that a change is about: few are looked up one by one, since a list cannot be compared with each task; many are hashed.
CREATE FUNCTION chosen_tasks(p_project bigint, p_tasks bigint[]) RETURNS SETOF task_ledger STABLE LANGUAGE sql AS $$
SELECT * FROM task_ledger WHERE project_id = p_project AND p_tasks IS NULL UNION ALL
SELECT l.* FROM unnest(p_tasks) u(id) JOIN LATERAL (SELECT * FROM task_ledger WHERE project_id = p_project AND task_id = u.id OFFSET 0) l ON true
 WHERE cardinality(p_tasks) <= 20000 UNION ALL
SELECT * FROM task_ledger WHERE project_id = p_project AND cardinality(p_tasks) > 20000 AND (task_id IN (SELECT unnest(p_tasks))) IS TRUE $$;

CREATE FUNCTION preview_redundancy(p_project bigint, p_tasks bigint[], p_n int) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*), count(*) FILTER (WHERE would AND NOT done), count(*) FILTER (WHERE done AND NOT would), 0
  FROM (SELECT l.done, CASE WHEN l.mode::text = 'gold' THEN l.done
                            WHEN l.max_answers IS NULL AND (p_n > 50 OR s.min_answers IS NULL) THEN would_be_complete(l, p_n, 0, '', 0)
                            ELSE would_stop_at(l, p_n, s.min_answers, s.confidence) END AS would
          FROM chosen_tasks(p_project, p_tasks) l CROSS JOIN stopping_of(p_project) s WHERE coalesce(l.max_answers, l.n_answers) <> p_n) t $$;

CREATE FUNCTION preview_priority(p_project bigint, p_tasks bigint[], p_priority float8) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*), 0, 0, 0 FROM chosen_tasks(p_project, p_tasks) WHERE priority_0 <> p_priority $$;

CREATE FUNCTION preview_order(p_project bigint, p_tasks bigint[]) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*), 0, 0, 0 FROM chosen_tasks(p_project, p_tasks) WHERE open $$;

CREATE FUNCTION preview_delete(p_project bigint, p_tasks bigint[]) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*), 0, 0, coalesce(sum(answers + uncounted), 0) FROM chosen_tasks(p_project, p_tasks) $$;

CREATE FUNCTION preview_retire(p_project bigint, p_tasks bigint[]) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*), 0, 0, 0 FROM chosen_tasks(p_project, p_tasks) WHERE NOT retired $$;

-- Retired tasks have no leases. Late answers count again as far as they are needed.
CREATE FUNCTION preview_reopen(p_project bigint, p_tasks bigint[]) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*), count(*) FILTER (WHERE would AND NOT done), count(*) FILTER (WHERE NOT would), 0
  FROM (SELECT done, CASE WHEN max_answers IS NOT NULL THEN done OR would_stop(l, n_answers, max_answers, s.min_answers, s.confidence, '', 0, 0) ELSE is_complete(answers + CASE WHEN uncounted = 0 THEN 0 ELSE least(countable(project_id, task_id), greatest(0, n_answers - answers)) END,
                                 n_answers) END AS would FROM chosen_tasks(p_project, p_tasks) l CROSS JOIN stopping_of(p_project) s WHERE retired AND mode::text <> 'gold') t $$;

CREATE FUNCTION preview_withdraw(p_project bigint, p_tasks bigint[], p_actor text) RETURNS effect STABLE LANGUAGE sql AS $$
SELECT count(*), count(*) FILTER (WHERE would AND NOT done), count(*) FILTER (WHERE done AND NOT would), coalesce(sum(counted + late), 0)
  FROM (SELECT l.done, x.counted, x.late, CASE WHEN l.max_answers IS NULL THEN would_be_complete(l, l.n_answers, x.counted, p_actor, x.leases)
                                               WHEN l.done AND x.counted = 0 THEN true WHEN l.retired THEN l.answers - x.counted >= l.n_answers
                                               ELSE would_stop(l, l.n_answers, l.max_answers, s.min_answers, s.confidence, p_actor, x.counted, x.leases) END AS would
          FROM (SELECT task_id, coalesce(sum(counted), 0)::int AS counted, coalesce(sum(late), 0)::int AS late, coalesce(sum(leases), 0)::int AS leases FROM (
                    SELECT task_id, counted::int AS counted, (NOT counted)::int AS late, 0 AS leases FROM task_run
                     WHERE project_id = p_project AND actor = p_actor AND (p_tasks IS NULL OR task_id = ANY (p_tasks)) UNION ALL
                    SELECT task_id, 0, 0, 1 FROM lease WHERE project_id = p_project AND actor = p_actor AND (p_tasks IS NULL OR task_id = ANY (p_tasks))) h
                 GROUP BY 1) x
          JOIN task_ledger l ON l.project_id = p_project AND l.task_id = x.task_id CROSS JOIN stopping_of(p_project) s) t $$;
