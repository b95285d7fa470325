-- The values by which answers are compared. Agreement, and everything else that compares answers, uses these functions.

-- Whether an answer has this key.
CREATE FUNCTION has_key(p_info jsonb, p_key text) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT jsonb_typeof(p_info) = 'object' AND p_info ? p_key $$;

-- The value by which an answer is compared: the whole answer if there is no key, JSON null if the answer lacks the key.
CREATE FUNCTION answer_value(p_info jsonb, p_key text) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_key IS NULL THEN p_info WHEN has_key(p_info, p_key) THEN p_info->p_key ELSE 'null' END $$;

-- The counted answers to a task, each with its value and the key it was compared by: the project's info.answer_key, if
-- an answer to the task has it; otherwise "answer", if all have it; otherwise null, which means the whole answer.
CREATE FUNCTION answer_values(p_project bigint, p_task bigint) RETURNS TABLE (run bigint, actor text, key text, value jsonb) STABLE LANGUAGE sql AS $$
WITH r AS MATERIALIZED (SELECT id, actor, info FROM task_run WHERE project_id = p_project AND task_id = p_task AND counted),
k AS (SELECT CASE WHEN bool_or(has_key(r.info, p.answer_key)) THEN max(p.answer_key)
                  WHEN bool_and(has_key(r.info, 'answer')) THEN 'answer' END AS key
        FROM r, project p WHERE p.id = p_project)
SELECT r.id, r.actor, k.key, answer_value(r.info, k.key) FROM r, k $$;
