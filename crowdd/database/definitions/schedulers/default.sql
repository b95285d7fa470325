-- default: the scheduler of projects that name none. The same as depth_first. While there are gold tasks, it draws at random, tasks that have
-- answers before others.

CREATE FUNCTION default_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'limited'::assignment_mode $$;

-- A gold task would stand out of an order, which nobody has asked for here. And to draw all tasks alike would take more answers: every
-- task would get its first ones before anything has been learned of volunteers.
CREATE FUNCTION default_scan(p project_ledger, p_order text, p_scan text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN p.n_gold = 0 THEN scans_of(p_order, p_scan) WHEN p_scan IS NULL THEN 'started' ELSE scans_of(p_order, nullif(p_scan, 'started')) END;
END $$;
