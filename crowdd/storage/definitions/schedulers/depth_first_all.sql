-- depth_first_all: everybody may answer everything; of a task's answers the first n_answers count.

CREATE FUNCTION depth_first_all_mode() RETURNS "char" IMMUTABLE LANGUAGE sql AS $$ SELECT 'a'::"char" $$;

CREATE FUNCTION depth_first_all_lane(p project_ledger, p_order text, p_lane text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN lanes_of(p_order, p_lane);
END $$;
