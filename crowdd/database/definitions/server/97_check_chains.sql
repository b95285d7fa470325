-- Whether the next step has exactly the tasks that its source was to become (tasks/48_chains.sql), in a running system. What is not followed yet
-- is no difference. A repair has everything that is wrong followed again by the job.

CREATE FUNCTION check_chains(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
SELECT p_project, 'complete tasks that the next step was not made of', 'task ' || r.task_id, 0::numeric, 1::numeric
  FROM chain_link l JOIN project_ledger s ON s.project_id = l.project_id AND NOT s.trial
  JOIN result r ON r.project_id = l.project_id AND r.last_version AND (r.changed_xid, r.task_id) <= (l.position, l.position_task)
  JOIN task_ledger t ON t.project_id = l.project_id AND t.task_id = r.task_id AND t.done AND t.mode <> 'gold'
 WHERE l.next_project_id = p_project AND NOT EXISTS (SELECT FROM chain_source c WHERE c.source_task_id = r.task_id AND c.project_id = p_project AND c.result_id = r.id)
UNION ALL
SELECT p_project, 'tasks made of a task', 'task ' || c.source_task_id || ', part "' || w.name || '"', 0, 1
  FROM chain_source c CROSS JOIN unnest(c.parts) w (name)
 WHERE (c.project_id + 0) = p_project AND NOT EXISTS (SELECT FROM task_source s WHERE s.source_task_id = c.source_task_id AND s.project_id = p_project AND s.part = w.name)
UNION ALL
SELECT p_project, 'tasks made of a task that was not to become them', 'task ' || s.source_task_id || ', part "' || s.part || '"', 1, 0
  FROM task_source s JOIN chain_source c ON c.source_task_id = s.source_task_id AND c.project_id = s.project_id
 WHERE (s.project_id + 0) = p_project AND NOT s.changed AND NOT s.part = ANY (c.parts)
UNION ALL
SELECT p_project, 'sources of tasks that do not exist', 'task ' || s.source_task_id || ', part "' || s.part || '"', 1, 0
  FROM task_source s WHERE (s.project_id + 0) = p_project AND s.task_id IS NOT NULL
   AND NOT EXISTS (SELECT FROM task_ledger t WHERE t.project_id = p_project AND t.task_id = s.task_id)
 ORDER BY 2, 3 $$;

CREATE FUNCTION repair_chains(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE sources bigint[];
BEGIN
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    sources := ARRAY(SELECT DISTINCT substring(key FROM 'task (\d+)')::bigint FROM check_chains(p_project, p_now));
    DELETE FROM task_source s WHERE s.source_task_id = ANY (sources) AND s.project_id = p_project AND s.task_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM task_ledger t WHERE t.project_id = p_project AND t.task_id = s.task_id);
    DELETE FROM chain_source WHERE source_task_id = ANY (sources) AND project_id = p_project;
    UPDATE chain_link SET position = -1, position_task = 0 WHERE next_project_id = p_project;
END $$;
