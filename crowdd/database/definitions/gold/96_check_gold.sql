-- Recounts what is known of gold tasks: how many a project has, and how many of the answers to each were right.

CREATE FUNCTION check_gold(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH g AS (SELECT * FROM gold_task WHERE project_id = p_project),
runs AS (SELECT g.task_id, count(r.id) AS seen, count(r.id) FILTER (WHERE r.is_right) AS right_
           FROM g LEFT JOIN task_run r ON r.project_id = g.project_id AND r.task_id = g.task_id AND r.taught IS NOT NULL GROUP BY 1)
SELECT p_project, v.what, 'task ' || g.task_id, v.stored::numeric, v.counted::numeric
  FROM g JOIN runs USING (task_id), LATERAL (VALUES ('gold_task.n_seen', g.n_seen, seen), ('gold_task.n_right', g.n_right, right_)) v(what, stored, counted)
 WHERE v.stored <> v.counted UNION ALL
SELECT p_project, 'project_ledger.n_gold', '', n_gold, n FROM project_ledger, (SELECT count(*) AS n FROM g) c WHERE project_id = p_project AND n_gold <> n $$;

CREATE FUNCTION repair_gold(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t bigint;
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    FOR t IN SELECT task_id FROM gold_task WHERE project_id = p_project ORDER BY 1 LOOP
        PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = t FOR UPDATE;
        UPDATE gold_task g SET n_seen = r.seen, n_right = r.right_
          FROM (SELECT count(*) AS seen, count(*) FILTER (WHERE is_right) AS right_ FROM task_run WHERE project_id = p_project AND task_id = t AND taught IS NOT NULL) r
         WHERE g.project_id = p_project AND g.task_id = t;
    END LOOP;
    UPDATE gold_task g SET number = n.number
      FROM (SELECT task_id, row_number() OVER (ORDER BY number) AS number FROM gold_task WHERE project_id = p_project) n
     WHERE g.project_id = p_project AND g.task_id = n.task_id AND g.number <> n.number;
    UPDATE project_ledger SET n_gold = (SELECT count(*) FROM gold_task WHERE project_id = p_project) WHERE project_id = p_project;
    UPDATE project p SET has_gold = l.n_gold > 0 FROM project_ledger l WHERE l.project_id = p.id AND p.id = p_project AND p.has_gold <> (l.n_gold > 0);
END $$;
