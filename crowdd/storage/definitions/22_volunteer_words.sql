-- The word of a volunteer in a project, made when it is first asked for. Random: nothing can be concluded from it. To be called
-- when no lock on a task is still to be asked for, in one order of projects and volunteers.
CREATE FUNCTION volunteer_word(p_project bigint, p_actor text) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE w text;
BEGIN
    SELECT word INTO w FROM volunteer_word WHERE project_id = p_project AND actor = p_actor;
    IF FOUND THEN RETURN w; END IF;
    INSERT INTO volunteer_word VALUES (p_project, p_actor, right(replace(gen_random_uuid()::text, '-', ''), 15)) ON CONFLICT DO NOTHING;
    SELECT word INTO w FROM volunteer_word WHERE project_id = p_project AND actor = p_actor;
    RETURN w;
END $$;

-- Answers of p_from that were put under p_to keep their word where p_to has none.
CREATE FUNCTION copy_word(p_project bigint, p_from text, p_to text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO volunteer_word SELECT p_project, p_to, word FROM volunteer_word WHERE project_id = p_project AND actor = p_from ON CONFLICT DO NOTHING;
    PERFORM volunteer_word(p_project, p_to);
END $$;
