-- locked: depth_first under a name that existing projects use. Leases hold places under every scheduler.

CREATE FUNCTION locked_mode() RETURNS "char" IMMUTABLE LANGUAGE sql AS $$ SELECT 'n'::"char" $$;

CREATE FUNCTION locked_lane(p project_ledger, p_order text, p_lane text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN lanes_of(p_order, p_lane);
END $$;
