-- Cells of workbooks (SpreadsheetML) behind their reference, for exports: <c r="A2" is written before them. The numbers of styles are
-- those of crowdd/features/exports/sheet_statements.py. null is an empty cell.

-- A JSON value as a text for people: members and elements one after the other.
CREATE FUNCTION plain_text(p_value jsonb) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE jsonb_typeof(p_value)
        WHEN 'array' THEN (SELECT string_agg(CASE WHEN jsonb_typeof(e) IN ('array', 'object') THEN '(' || coalesce(plain_text(e), '') || ')'
            ELSE e #>> '{}' END, '; ' ORDER BY n) FROM jsonb_array_elements(p_value) WITH ORDINALITY v(e, n))
        WHEN 'object' THEN (SELECT string_agg(key || ': ' || CASE WHEN jsonb_typeof(value) IN ('array', 'object') THEN '(' || coalesce(plain_text(value), '') || ')'
            ELSE coalesce(value #>> '{}', '') END, '; ') FROM jsonb_each(p_value))
        ELSE p_value #>> '{}' END;
END $$;

-- A text without what XML cannot have, as spreadsheets write it, with at most 32,767 UTF-16 units, the last one an ellipsis if it was longer.
CREATE FUNCTION sheet_escaped(p_text text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
    v_text text := p_text;
    v_sign text;
BEGIN
    IF length(v_text) > 16383 AND v_text ~ '[\U00010000-\U0010FFFF]' THEN
        v_text := left(v_text, 16383) || '…';
    ELSIF length(v_text) > 32767 THEN
        v_text := left(v_text, 32766) || '…';
    END IF;
    v_text := regexp_replace(v_text, '_(x[0-9A-Fa-f]{4}_)', '_x005F_\1', 'g');
    v_text := replace(replace(replace(v_text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;');
    v_text := replace(replace(v_text, E'\n', '&#10;'), E'\t', '&#9;');
    IF v_text ~ '[\u0001-\u001f\ufffe\uffff]' THEN
        FOR v_sign IN SELECT DISTINCT m[1] FROM regexp_matches(v_text, '([\u0001-\u001f\ufffe\uffff])', 'g') m LOOP
            v_text := replace(v_text, v_sign, '_x' || upper(lpad(to_hex(ascii(v_sign)), 4, '0')) || '_');
        END LOOP;
    END IF;
    RETURN v_text;
END $$;

-- A text is a string, whatever it begins with. Most columns of a row are empty: the first test of each function is for that.
CREATE FUNCTION sheet_text(p_text text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE
    WHEN p_text IS NULL OR p_text = '' THEN NULL
    WHEN octet_length(p_text) < 16384 AND p_text !~ '[\u0001-\u001f&<>\ufffe\uffff]|_x' THEN ' t="inlineStr"><is><t xml:space="preserve">' || p_text || '</t></is></c>'
    ELSE ' t="inlineStr"><is><t xml:space="preserve">' || sheet_escaped(p_text) || '</t></is></c>' END $$;

-- A number as text: a number, or a string if a spreadsheet would round it.
CREATE FUNCTION sheet_number(p_number text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN length(p_number) <= 15 OR length(ltrim(translate(p_number, '-.', ''), '0')) <= 15 THEN '><v>' || p_number || '</v></c>' ELSE sheet_text(p_number) END $$;

-- A day (YYYY-MM-DD) as a date, anything else as a string. Spreadsheets do not agree on days before March 1900.
CREATE FUNCTION sheet_day(p_text text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF p_text ~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' AND p_text >= '1900-03-01'
       AND extract(day FROM make_date(left(p_text, 4)::int, substr(p_text, 6, 2)::int, 1) + interval '1 month - 1 day') >= right(p_text, 2)::int THEN
        RETURN ' s="2"><v>' || (p_text::date - date '1899-12-30')::text || '</v></c>';
    END IF;
    RETURN sheet_text(p_text);
END $$;

-- The address of a page or picture as a link, anything else as a day or a string. Formulas have texts of at most 255 characters.
-- LIKE costs a fiftieth of a regular expression with an anchor, and a function in PL/pgSQL ten times as much as one that is inlined.
CREATE FUNCTION sheet_link(p_text text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE
    WHEN (p_text LIKE 'https://_%' OR p_text LIKE 'http://_%') AND length(p_text) <= 255 AND p_text !~ '[\s"<>\u0001-\u001f\ufffe\uffff]|_x'
    THEN ' s="4" t="str"><f>HYPERLINK("' || replace(p_text, '&', '&amp;') || '")</f><v>' || replace(p_text, '&', '&amp;') || '</v></c>'
    WHEN p_text LIKE '____-__-__' THEN sheet_day(p_text)
    ELSE sheet_text(p_text) END $$;

-- A JSON value by its type; arrays and objects as a text for people.
CREATE FUNCTION sheet_value(p_value jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_value IS NOT NULL THEN CASE jsonb_typeof(p_value)
    WHEN 'null' THEN NULL
    WHEN 'string' THEN sheet_text(p_value #>> '{}')
    WHEN 'number' THEN sheet_number(p_value #>> '{}')
    WHEN 'boolean' THEN ' t="b"><v>' || (p_value)::boolean::int::text || '</v></c>'
    ELSE sheet_text(plain_text(p_value)) END END $$;

-- Positions ([[x, y] …] or [{x, y} …]) as well-known text.
CREATE FUNCTION positions_text(p_positions jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT string_agg(concat(coalesce(e->>0, e->>'x'), ' ', coalesce(e->>1, e->>'y')), ', ' ORDER BY n)
FROM jsonb_array_elements(p_positions) WITH ORDINALITY v(e, n) $$;

-- The line or area of a mark as well-known text: of a map (GeoJSON), or of a picture ([[x, y] …]). null for other marks.
CREATE FUNCTION mark_outline(p_mark jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE
    WHEN p_mark->'geometry'->>'type' = 'Polygon' AND jsonb_typeof(p_mark->'geometry'->'coordinates'->0) = 'array'
        THEN 'POLYGON ((' || positions_text(p_mark->'geometry'->'coordinates'->0) || '))'
    WHEN jsonb_typeof(p_mark->'points') = 'array' AND p_mark->'points' <> '[]' THEN 'LINESTRING (' || positions_text(p_mark->'points') || ')' END $$;
