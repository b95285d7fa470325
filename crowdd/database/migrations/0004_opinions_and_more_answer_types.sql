-- expands: answer fields may be opinions, and have the types date, ranking, transcript, areas, lines and places

-- Of an opinion the type is 'opinion' whatever its values are: nothing is compared, learned or weighed there. It has no label.
CREATE OR REPLACE FUNCTION declared_path(p_info jsonb) RETURNS text[] IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN field->>'at' = '' THEN '{}'
            WHEN field->>'at' LIKE '/%' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY nth)
                                                FROM unnest(string_to_array(substr(field->>'at', 2), '/')) WITH ORDINALITY p (part, nth))
            WHEN jsonb_typeof(p_info->'answer_key') = 'string' AND p_info->>'answer_key' <> '' THEN ARRAY[p_info->>'answer_key'] END
  FROM (SELECT CASE WHEN jsonb_typeof(found->'name') = 'string' AND jsonb_typeof(found->'at') = 'string'
                     AND found->>'type' IN ('label', 'labels', 'number', 'text', 'date', 'ranking', 'boxes', 'points', 'polygon', 'spans', 'transcript', 'areas', 'lines', 'places') THEN found END AS field
          FROM (SELECT CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers'->0 WHEN 'object' THEN p_info->'answers' END AS found) f) d $$;

CREATE OR REPLACE FUNCTION declared_fields(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN bool_and(valid) AND count(*) <= 10 AND (count(*) > 1 OR bool_or(type <> 'label' OR opinion) OR bool_or(field ? 'choices')) THEN jsonb_agg(field ORDER BY nth) END
  FROM (SELECT nth, type, opinion,
               coalesce(jsonb_typeof(f->'name') = 'string' AND jsonb_typeof(f->'at') = 'string' AND (f->>'at' = '' OR f->>'at' LIKE '/%')
                        AND type IN ('label', 'labels', 'number', 'text', 'date', 'ranking', 'boxes', 'points', 'polygon', 'spans', 'transcript', 'areas', 'lines', 'places'), false) AS valid,
               jsonb_strip_nulls(jsonb_build_object(
                   'path', CASE WHEN f->>'at' <> '' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY n)
                                                            FROM unnest(string_to_array(substr(f->>'at', 2), '/')) WITH ORDINALITY p (part, n)) ELSE '{}' END::text,
                   'type', CASE WHEN opinion THEN 'opinion' WHEN type = 'labels' AND choices IS NULL THEN 'label' ELSE type END,
                   'choices', CASE WHEN type = 'label' AND f ? 'unsure' THEN choices || jsonb_build_array(f->'unsure') ELSE choices END,
                   'min', CASE WHEN jsonb_typeof(f->'min') = 'number' THEN f->'min' END, 'max', CASE WHEN jsonb_typeof(f->'max') = 'number' THEN f->'max' END,
                   'tolerance', CASE WHEN jsonb_typeof(f->'tolerance') = 'number' THEN f->'tolerance' END)) AS field
          FROM jsonb_array_elements(CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers' WHEN 'object' THEN jsonb_build_array(p_info->'answers') END)
               WITH ORDINALITY e (f, nth),
               LATERAL (SELECT f->>'type' AS type, f->'opinion' IS NOT DISTINCT FROM 'true' AS opinion, CASE WHEN jsonb_typeof(f->'choices') = 'array' THEN
                               CASE WHEN jsonb_array_length(f->'choices') BETWEEN 1 AND 50 THEN f->'choices' END END AS choices) c) d $$;

CREATE OR REPLACE FUNCTION declared_label(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN f->>'type' = 'label' AND f->'opinion' IS DISTINCT FROM 'true' AND jsonb_typeof(f->'name') = 'string' AND jsonb_typeof(f->'at') = 'string' AND (f->>'at' = '' OR f->>'at' LIKE '/%') THEN
       jsonb_build_object(
           'path', CASE WHEN f->>'at' <> '' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY n)
                                                    FROM unnest(string_to_array(substr(f->>'at', 2), '/')) WITH ORDINALITY p (part, n)) ELSE '{}' END::text,
           'choices', coalesce(choices, '[]') || CASE WHEN f ? 'unsure' AND NOT coalesce(choices, '[]') @> (f->'unsure') THEN jsonb_build_array(f->'unsure') ELSE '[]' END,
           'fixed', choices IS NOT NULL) END
  FROM (SELECT f, CASE WHEN jsonb_typeof(f->'choices') = 'array' THEN CASE WHEN jsonb_array_length(f->'choices') BETWEEN 1 AND 50 THEN f->'choices' END END AS choices
          FROM (SELECT CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers'->0 WHEN 'object' THEN p_info->'answers' END AS f) d) c $$;
