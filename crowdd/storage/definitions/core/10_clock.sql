-- The time of everything that has to do with leases, answers and events; a parameter of the functions below, never read
-- inside them. Tests move clock_shift.
-- In PL/pgSQL, which plans it once per session: a function in SQL is planned anew by every statement that calls it.
CREATE FUNCTION clock() RETURNS timestamptz STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT statement_timestamp() + ahead FROM public.clock_shift);
END $$;
