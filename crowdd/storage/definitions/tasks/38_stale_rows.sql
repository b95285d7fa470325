-- Rows that are of no more use. Rows that somebody is just writing are left for the next time, since nobody who holds a
-- task may have to wait for us, nor we for them.

-- Takes rights to answer late away that ended before a moment, at most p_most; how many. Whoever skipped a task has passed it:
-- once that is forgotten, they start anew in the order, or they would never meet it again (I7).
CREATE FUNCTION sweep_expired_leases(p_before timestamptz, p_maximum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; n int := 0;
BEGIN
    FOR r IN SELECT project_id, actor, task_id, skipped FROM expired_lease WHERE expires < p_before ORDER BY expires LIMIT p_maximum FOR UPDATE SKIP LOCKED LOOP
        IF r.skipped THEN                               -- not while they ask: they would pass it once more
            CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended(r.actor, r.project_id));
            DELETE FROM position WHERE (project_id, actor, scan) IN (
                SELECT project_id, actor, scan FROM position WHERE project_id = r.project_id AND actor = r.actor FOR UPDATE);
        END IF;
        DELETE FROM expired_lease WHERE project_id = r.project_id AND actor = r.actor AND task_id = r.task_id;
        n := n + 1;
    END LOOP;
    RETURN n;
END $$;

-- Forgets places in the order that nobody has used since a moment, and those of projects that are gone; at most p_most. Whoever
-- comes back starts anew, and passes by skips what they have answered.
CREATE FUNCTION sweep_positions(p_before timestamptz, p_maximum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
    DELETE FROM position WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM position p WHERE used < p_before OR NOT EXISTS (SELECT FROM project_ledger l WHERE l.project_id = p.project_id)
         LIMIT p_maximum FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;
