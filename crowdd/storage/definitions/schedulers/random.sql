-- random: by chance; each task that is open to the volunteer is as likely as any other.

CREATE FUNCTION random_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'limited'::assignment_mode $$;

-- Where such tasks are rare, the scans of the order find what chance does not.
CREATE FUNCTION random_scan(p project_ledger, p_order text, p_scan text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN p_scan IS NULL THEN 'random' ELSE scans_of(p_order, nullif(p_scan, 'random')) END;
END $$;
