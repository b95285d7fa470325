-- Cells of CSV tables that a spreadsheet may open. The rules are those of crowdd/domain/core/csv_escape.py; a test
-- compares the two.

-- A text as a cell: with an apostrophe if a spreadsheet would read it as a formula, and in quotation marks if it
-- contains commas, quotation marks or line breaks.
CREATE FUNCTION csv_text(p_text text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE
    WHEN p_text ~ '^([ \t\n\v\f\r\u001c-\u001f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*[=+@\uff1d\uff0b\uff0d\uff20-]|[\t\r\n|%])'
         AND p_text !~ '^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$'
    THEN CASE WHEN p_text ~ '[",\r\n]' THEN '"''' || replace(p_text, '"', '""') || '"' ELSE '''' || p_text END
    WHEN p_text ~ '[",\r\n]' THEN '"' || replace(p_text, '"', '""') || '"'
    ELSE p_text END $$;

-- The same without the apostrophe.
CREATE FUNCTION csv_raw(p_text text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_text ~ '[",\r\n]' THEN '"' || replace(p_text, '"', '""') || '"' ELSE p_text END $$;

-- A JSON value as a cell: null is an empty cell, objects and arrays are JSON.
CREATE FUNCTION csv_cell(p_value jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE jsonb_typeof(p_value) WHEN 'string' THEN csv_text(p_value #>> '{}') WHEN 'null' THEN NULL ELSE csv_raw(p_value::text) END $$;

CREATE FUNCTION csv_raw_cell(p_value jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE jsonb_typeof(p_value) WHEN 'string' THEN csv_raw(p_value #>> '{}') WHEN 'null' THEN NULL ELSE csv_raw(p_value::text) END $$;
