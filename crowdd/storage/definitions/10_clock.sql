-- The time of everything that has to do with leases, answers and events; a parameter of the functions below, never read
-- inside them. Tests move clock_shift.
CREATE FUNCTION clock() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT statement_timestamp() + ahead FROM public.clock_shift $$;
