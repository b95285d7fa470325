-- The values by which answers are compared. Agreement, and everything else that compares answers, uses these functions.

-- A text without differences of spaces at its ends, of the form of characters (NFC) and of case, by the rules of Unicode. The same in
-- crowdd/kinds/answers/fields.py.
CREATE FUNCTION folded(p_text text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT replace(lower(upper(regexp_replace(normalize(p_text, NFC), '^\s+|\s+$', '', 'g'))), 'ß', 'ss') $$;

-- The number of the only choice, from 1, that is the same text as a value but for such differences.
CREATE FUNCTION folded_position(p_choices jsonb[], p_value jsonb) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_typeof(p_value) IS DISTINCT FROM 'string' OR octet_length(p_value::text) > 2000 THEN RETURN NULL; END IF;
    RETURN (SELECT CASE WHEN count(*) = 1 THEN min(nth) END FROM unnest(p_choices) WITH ORDINALITY u (c, nth)
             WHERE jsonb_typeof(c) = 'string' AND folded(c #>> '{}') = folded(p_value #>> '{}'));
END $$;

-- The number of the choice that a value is, from 1.
CREATE FUNCTION choice_position(p_choices jsonb[], p_value jsonb) RETURNS int IMMUTABLE LANGUAGE sql AS $$
SELECT coalesce(array_position(p_choices, p_value), folded_position(p_choices, p_value)) $$;

-- Whether an answer has a value at this place.
CREATE FUNCTION has_value(p_info jsonb, p_path text[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT p_info #> p_path IS NOT NULL $$;

-- What an answer says at a place: a value, JSON null for "can't tell", an empty array for "nothing there". Null: it was left out. Either may
-- stand on the way, in place of all marks.
CREATE FUNCTION said_at(p_info jsonb, p_path text[]) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE v jsonb := p_info #> p_path;
BEGIN
    FOR depth IN 1 .. CASE WHEN v IS NULL THEN cardinality(p_path) - 1 ELSE 0 END LOOP
        v := p_info #> p_path[1:depth];
        IF v IN ('null', '[]') THEN RETURN v; END IF;
        v := NULL;
    END LOOP;
    RETURN v;
END $$;

-- The value by which an answer is compared: the whole answer without a place, null if the answer leaves it out.
CREATE FUNCTION answer_value(p_info jsonb, p_path text[]) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_path IS NULL THEN coalesce(p_info, 'null') ELSE said_at(p_info, p_path) END $$;

-- The counted answers to a task, each with its value and the key it was compared by, its parts joined by slashes: the
-- place that the project declares (answer_path), if an answer to the task has a value there; otherwise "answer", if all have it;
-- otherwise null, which means the whole answer.
CREATE FUNCTION answer_values(p_project bigint, p_task bigint) RETURNS TABLE (run bigint, user_id bigint, key text, value jsonb, info jsonb) STABLE LANGUAGE sql AS $$
SELECT id, user_id, array_to_string(path, '/'), answer_value(info, path), info
  FROM (SELECT r.id, r.user_id, r.info, CASE WHEN bool_or(has_value(r.info, p.answer_path)) OVER () THEN p.answer_path
                                             WHEN bool_and(has_value(r.info, '{answer}')) OVER () THEN '{answer}'::text[] END AS path
          FROM project p JOIN task_run r ON r.project_id = p.id WHERE p.id = p_project AND r.task_id = p_task AND r.counted) k $$;
