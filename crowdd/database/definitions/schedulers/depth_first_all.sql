-- depth_first_all: everybody can answer every task. Of a task's answers, the first n_answers count.

CREATE FUNCTION depth_first_all_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'unlimited'::assignment_mode $$;

CREATE FUNCTION depth_first_all_scan(p project_ledger, p_order text, p_scan text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT scans_of(p_order, p_scan) $$;
