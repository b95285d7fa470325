-- incremental: one volunteer at a time holds a task, and sees the previous answer (the view handed_out).

CREATE FUNCTION incremental_mode() RETURNS assignment_mode IMMUTABLE LANGUAGE sql AS $$ SELECT 'one_at_a_time'::assignment_mode $$;

CREATE FUNCTION incremental_scan(p project_ledger, p_order text, p_scan text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT scans_of(p_order, p_scan) $$;
