-- default: the scheduler of projects that name none. The same as depth_first, or random while there are gold tasks.

CREATE FUNCTION default_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'limited'::assignment_mode $$;

-- A gold task would stand out of an order, which nobody has asked for here.
CREATE FUNCTION default_scan(p project_ledger, p_order text, p_scan text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN p.n_gold > 0 THEN random_scan(p, p_order, p_scan) ELSE scans_of(p_order, p_scan) END;
END $$;
