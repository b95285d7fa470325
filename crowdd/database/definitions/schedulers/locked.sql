-- locked: depth_first under a name that existing projects use. Leases hold places under every scheduler.

CREATE FUNCTION locked_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'limited'::assignment_mode $$;

CREATE FUNCTION locked_scan(p project_ledger, p_order text, p_scan text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT scans_of(p_order, p_scan) $$;
