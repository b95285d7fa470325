-- random: by chance; each task that is open to the volunteer is as likely as any other.

CREATE FUNCTION random_mode() RETURNS "char" IMMUTABLE LANGUAGE sql AS $$ SELECT 'n'::"char" $$;

-- Where such tasks are rare, the lanes of the order find what chance does not.
CREATE FUNCTION random_lane(p project_ledger, p_order text, p_lane text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN p_lane IS NULL THEN 'draw' ELSE lanes_of(p_order, nullif(p_lane, 'draw')) END;
END $$;
