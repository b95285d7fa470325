-- Columns of tasks that volunteers must not see (project.hidden_columns, a JSON array of names or null). This is the one place
-- that takes them away: statements that show tasks to others than owners read public_task, public_task_record or handed_out.

-- The info of a task without these keys.
CREATE FUNCTION without_keys(p_info jsonb, p_keys jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_keys IS NULL OR jsonb_typeof(p_info) <> 'object' THEN p_info
            ELSE p_info - ARRAY(SELECT jsonb_array_elements_text(p_keys)) END $$;

-- Tasks as others than owners may read them.
CREATE VIEW public_task AS
SELECT t.id, t.project_id, t.created, CASE WHEN p.hidden_columns IS NULL THEN t.info ELSE without_keys(t.info, p.hidden_columns) END AS info,
       t.quorum, t.calibration
  FROM task t JOIN project p ON p.id = t.project_id;
