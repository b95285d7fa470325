-- Removes rows that are no longer needed. Rows that another transaction is writing are left for the next run: a
-- transaction that holds a task must never wait for this one, nor the other way round.

-- Removes at most p_most rights to answer late that ended before a moment, and returns how many. A volunteer has passed
-- the tasks that they skipped. Once that record is removed, their scan positions start again, because they would
-- otherwise never get the task again (I7).
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

-- Removes at most p_most scan positions that were not used since a moment, or whose project is gone. A volunteer who
-- returns starts again, and skips ahead over the tasks that they have answered.
CREATE FUNCTION sweep_positions(p_before timestamptz, p_maximum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
    DELETE FROM position WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM position p WHERE used < p_before OR NOT EXISTS (SELECT FROM project_ledger l WHERE l.project_id = p.project_id)
         LIMIT p_maximum FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;
