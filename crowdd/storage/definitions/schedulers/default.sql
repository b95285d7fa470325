-- default: the scheduler of a project that names none: depth_first.

CREATE FUNCTION default_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'limited'::assignment_mode $$;

CREATE FUNCTION default_scan(p project_ledger, p_order text, p_scan text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT scans_of(p_order, p_scan) $$;
