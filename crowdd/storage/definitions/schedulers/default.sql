-- default: the scheduler of a project that names none: depth_first.

CREATE FUNCTION default_mode() RETURNS "char" IMMUTABLE LANGUAGE sql AS $$ SELECT 'n'::"char" $$;

CREATE FUNCTION default_lane(p project_ledger, p_order text, p_lane text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN lanes_of(p_order, p_lane);
END $$;
