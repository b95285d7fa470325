-- The values by which answers are compared. Agreement, and everything else that compares answers, uses these functions.

-- Whether an answer is an object with this key.
CREATE FUNCTION has_key(p_info jsonb, p_key text) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT p_info->p_key IS NOT NULL $$;

-- The value by which an answer is compared: the whole answer if there is no key, JSON null if the answer lacks the key.
CREATE FUNCTION answer_value(p_info jsonb, p_key text) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT coalesce(CASE WHEN p_key IS NULL THEN p_info ELSE p_info->p_key END, 'null') $$;

-- The counted answers to a task, each with its value and the key it was compared by: the project's info.answer_key, if
-- an answer to the task has it; otherwise "answer", if all have it; otherwise null, which means the whole answer.
CREATE FUNCTION answer_values(p_project bigint, p_task bigint) RETURNS TABLE (run bigint, user_id bigint, key text, value jsonb) STABLE LANGUAGE sql AS $$
SELECT id, user_id, key, answer_value(info, key)
  FROM (SELECT r.id, r.user_id, r.info, CASE WHEN bool_or(has_key(r.info, p.answer_key)) OVER () THEN p.answer_key
                                             WHEN bool_and(has_key(r.info, 'answer')) OVER () THEN 'answer' END AS key
          FROM project p JOIN task_run r ON r.project_id = p.id WHERE p.id = p_project AND r.task_id = p_task AND r.counted) k $$;
