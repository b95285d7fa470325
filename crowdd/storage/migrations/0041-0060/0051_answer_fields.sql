-- Where in the answers the value stands by which they are compared: at the place of the first answer field (info.answers), or
-- under the key info.answer_key. Null: neither is declared.

CREATE FUNCTION declared_path(p_info jsonb) RETURNS text[] IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN field->>'at' = '' THEN '{}'
            WHEN field->>'at' LIKE '/%' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY nth)
                                                FROM unnest(string_to_array(substr(field->>'at', 2), '/')) WITH ORDINALITY p (part, nth))
            WHEN jsonb_typeof(p_info->'answer_key') = 'string' AND p_info->>'answer_key' <> '' THEN ARRAY[p_info->>'answer_key'] END
  FROM (SELECT CASE WHEN jsonb_typeof(found->'name') = 'string' AND jsonb_typeof(found->'at') = 'string'
                     AND found->>'type' IN ('label', 'labels', 'number', 'text', 'boxes', 'points', 'polygon', 'spans') THEN found END AS field
          FROM (SELECT CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers'->0 WHEN 'object' THEN p_info->'answers' END AS found) f) d $$;

DROP TRIGGER answer_key_changes ON project;
ALTER TABLE project DROP COLUMN answer_key, ADD COLUMN answer_path text[] GENERATED ALWAYS AS (declared_path(info)) STORED;
ALTER FUNCTION answer_key_changed() RENAME TO answer_path_changed;
CREATE TRIGGER answer_path_changes AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN (OLD.answer_path IS DISTINCT FROM NEW.answer_path) EXECUTE FUNCTION answer_path_changed();
