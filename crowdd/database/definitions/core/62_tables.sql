-- Cells of CSV tables that a spreadsheet may open. The rules are those of crowdd/core/text/words.py; a test
-- compares the two.

-- A text as a cell: with an apostrophe if a spreadsheet would read it as a formula. COPY does the rest: an empty text is in quotation marks,
-- null is not.
CREATE FUNCTION csv_text(p_text text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE
    WHEN p_text IS NULL THEN NULL
    -- Most texts begin with a Latin letter or a digit: what is dear is asked of the others only.
    WHEN ascii(p_text) BETWEEN 97 AND 122 OR ascii(p_text) BETWEEN 48 AND 57 OR ascii(p_text) BETWEEN 65 AND 90 THEN p_text
    WHEN p_text ~ '^([ \t\n\v\f\r\u001c-\u001f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*[=+@\uff1d\uff0b\uff0d\uff20-]|[\t\r\n|%])'
         AND p_text !~ '^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$'
    THEN '''' || p_text
    ELSE p_text END $$;

-- What a JSON value is to a column: null, boolean, integer (exact as a double, too), bigint, number (not whole, exact as a double), decimal (a
-- number that neither has exactly), text, nothing (an empty array) or json.
CREATE FUNCTION json_form(p_value jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE jsonb_typeof(p_value)
    WHEN 'string' THEN 'text'
    WHEN 'number' THEN CASE
        WHEN scale(p_value::numeric) = 0 THEN CASE
            WHEN abs(p_value::numeric) <= 9007199254740992 THEN 'integer'
            WHEN p_value::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 THEN 'bigint' ELSE 'decimal' END
        WHEN abs(p_value::numeric) BETWEEN 1e-300 AND 1e300 THEN CASE
            WHEN p_value::numeric = (p_value::numeric)::float8::text::numeric THEN 'number' ELSE 'decimal' END
        WHEN p_value::numeric = 0 THEN 'number' ELSE 'decimal' END
    WHEN 'boolean' THEN 'boolean'
    WHEN 'null' THEN 'null'
    ELSE CASE p_value WHEN '[]' THEN 'nothing' ELSE 'json' END END $$;
