-- The word of a volunteer in a project, made when it is first asked for. Random: nothing can be concluded from it. A word names one
-- volunteer. To be called when no lock on a task is still to be asked for, in one order of projects and volunteers.
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

-- Answers of p_from were put under p_to. Their word goes along unless p_to has one already, and p_from gets another one for the
-- answers that it still has or gives later: a word never names two volunteers.
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

-- The words of those whose answers make a version of a result, in the order of the answers; answers that were deleted are not in it.
CREATE FUNCTION volunteers_of_result(p_project bigint, p_result bigint) RETURNS jsonb STABLE LANGUAGE sql AS $$
SELECT coalesce(jsonb_agg(w.word ORDER BY r.id), '[]')
  FROM result s CROSS JOIN unnest(s.task_run_ids) u(id)
  JOIN task_run r ON r.project_id = s.project_id AND r.id = u.id
  JOIN volunteer_word w ON w.project_id = r.project_id AND w.actor = r.actor
 WHERE s.project_id = p_project AND s.id = p_result $$;

-- What an event says to owners and their webhook: what was written down when it happened, and who answered.
CREATE FUNCTION event_data(e event) RETURNS jsonb STABLE LANGUAGE sql AS $$
SELECT CASE WHEN (e).kind IN ('task_completed', 'result_updated')
            THEN (e).data || jsonb_build_object('volunteers', volunteers_of_result((e).project_id, (e).result_id)) ELSE (e).data END $$;
