-- The time of leases, answers and events. Functions below take it as a parameter and never read it themselves. Tests
-- change clock_shift.
-- PL/pgSQL, because it is planned once per session; a function in SQL is planned by every statement that calls it.
CREATE FUNCTION clock() RETURNS timestamptz STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT statement_timestamp() + ahead FROM public.clock_shift);
END $$;
