-- random: hands out tasks at random. Each task that is open to the volunteer is equally likely.

CREATE FUNCTION random_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'limited'::assignment_mode $$;

-- If such tasks are rare, the scans of the order find what random draws miss.
CREATE FUNCTION random_scan(p project_ledger, p_order text, p_scan text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN p_scan IS NULL THEN 'random' ELSE scans_of(p_order, nullif(p_scan, 'random')) END;
END $$;
