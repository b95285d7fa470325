-- The code of a volunteer in a project. It is created on first use and random, so nothing can be derived from it. A
-- code names one volunteer. Call this after all locks on tasks are taken, in one order of projects and volunteers.
CREATE FUNCTION volunteer_word(p_project bigint, p_actor text) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE w text;
BEGIN
    SELECT word INTO w FROM volunteer_word WHERE project_id = p_project AND actor = p_actor;
    IF FOUND THEN RETURN w; END IF;
    INSERT INTO volunteer_word VALUES (p_project, p_actor, right(replace(gen_random_uuid()::text, '-', ''), 15)) ON CONFLICT DO NOTHING
    RETURNING word INTO w;
    IF NOT FOUND THEN SELECT word INTO w FROM volunteer_word WHERE project_id = p_project AND actor = p_actor; END IF;
    RETURN w;
END $$;

-- Answers of p_from were moved to p_to. Their code moves too, unless p_to already has one. p_from gets a new code for
-- answers that it keeps or gives later, so a code never names two volunteers.
CREATE FUNCTION move_word(p_project bigint, p_from text, p_to text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE w text;
BEGIN
    IF NOT EXISTS (SELECT FROM volunteer_word WHERE project_id = p_project AND actor = p_to) THEN
        DELETE FROM volunteer_word WHERE project_id = p_project AND actor = p_from RETURNING word INTO w;
        IF w IS NOT NULL THEN
            INSERT INTO volunteer_word VALUES (p_project, p_to, w) ON CONFLICT DO NOTHING;
            IF NOT FOUND THEN INSERT INTO volunteer_word VALUES (p_project, p_from, w); END IF;  -- p_to has just got one
        END IF;
    END IF;
    PERFORM volunteer_word(p_project, p_from);
    PERFORM volunteer_word(p_project, p_to);
END $$;

-- The codes of the volunteers whose answers make up a version of a result, in the order of the answers. Deleted answers
-- are left out.
CREATE FUNCTION volunteers_of_result(p_project bigint, p_result bigint) RETURNS jsonb STABLE LANGUAGE sql AS $$
-- From answer to answer, and from it to its code: before the tables of a young project are analyzed, a join would begin
-- with all codes of the project, for each result.
SELECT coalesce(jsonb_agg(v.word ORDER BY u.id) FILTER (WHERE v.word IS NOT NULL), '[]')
  FROM result s CROSS JOIN unnest(s.task_run_ids) u(id) CROSS JOIN LATERAL (
       SELECT (SELECT w.word FROM volunteer_word w WHERE w.project_id = r.project_id AND w.actor = r.actor) AS word
         FROM task_run r WHERE r.project_id = s.project_id AND r.id = u.id OFFSET 0) v
 WHERE s.project_id = p_project AND s.id = p_result $$;

-- The content of an event for owners and their webhook: what was stored when it happened, and who answered.
CREATE FUNCTION event_data(e event) RETURNS jsonb STABLE LANGUAGE sql AS $$
SELECT CASE WHEN (e).kind IN ('task_completed', 'result_updated')
            THEN (e).data || jsonb_build_object('volunteers', volunteers_of_result((e).project_id, (e).result_id)) ELSE (e).data END $$;
