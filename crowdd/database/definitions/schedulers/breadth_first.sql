-- breadth_first: collects one answer to every task before a second to any.

CREATE FUNCTION breadth_first_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'by_level'::assignment_mode $$;

-- From the lowest level with open tasks upwards; on each level first the tasks that come first in the order.
CREATE FUNCTION breadth_first_scan(p project_ledger, p_order text, p_scan text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE at int := coalesce(split_part(p_scan, '/', 2)::int, -1);
BEGIN
    IF p_scan LIKE 'first/%' THEN RETURN 'level/' || at; END IF;
    SELECT level INTO at FROM task_ledger WHERE project_id = p.project_id AND open AND mode = 'by_level' AND level > at ORDER BY level LIMIT 1;
    RETURN 'first/' || at || '/' || p_order;
END $$;
