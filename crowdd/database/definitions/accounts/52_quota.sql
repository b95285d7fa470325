-- What an account may store, and whether a transaction exceeds it. Uses counters as in 50_statistics.sql and scans
-- nothing.

-- The bytes of a project: its texts, tasks, answers, results, posts, materials and files.
CREATE FUNCTION bytes_of(p_project bigint) RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT (coalesce((SELECT bytes FROM project_stat WHERE project_id = p_project), 0)
      + coalesce((SELECT sum(bytes) FROM stat_delta WHERE project_id = p_project AND (project_id, xact) >= (p_project, (SELECT unfolded_from()))), 0))::bigint $$;

-- The totals of all projects of an account.
CREATE FUNCTION usage_of(p_user bigint, OUT projects bigint, OUT tasks bigint, OUT bytes bigint) STABLE LANGUAGE sql AS $$
SELECT count(*), coalesce(sum(tasks_of(id)), 0)::bigint, coalesce(sum(bytes_of(id)), 0)::bigint FROM project WHERE owner_id = p_user $$;

-- The limit that this transaction exceeds with what it has added: tasks or bytes, and how much there would be. No row:
-- none. A limit of 0 means no limit, and administrators have none. Call this last: the lock makes others who add to the
-- same account wait for the end of this transaction, and no other lock may be taken after it.
CREATE FUNCTION quota_exceeded(p_tasks bigint, p_bytes bigint) RETURNS TABLE (what text, used bigint) LANGUAGE plpgsql AS $$
DECLARE o record; u record;
BEGIN
    FOR o IN SELECT p.owner_id, sum(d.tasks) AS tasks, sum(d.bytes) AS bytes
               FROM stat_delta d JOIN project p ON p.id = d.project_id JOIN account a ON a.id = p.owner_id AND NOT a.admin
              WHERE d.xact = pg_current_xact_id()::text::bigint
              GROUP BY 1 HAVING sum(d.tasks) > 0 OR sum(d.bytes) > 0 ORDER BY 1 LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended('quota', o.owner_id));
        SELECT * INTO u FROM usage_of(o.owner_id);
        IF p_tasks > 0 AND o.tasks > 0 AND u.tasks > p_tasks THEN RETURN QUERY SELECT 'tasks', u.tasks; END IF;
        IF p_bytes > 0 AND o.bytes > 0 AND u.bytes > p_bytes THEN RETURN QUERY SELECT 'bytes', u.bytes; END IF;
    END LOOP;
END $$;

-- The number of projects of an account that has just got one more; null for administrators. Takes the same lock.
CREATE FUNCTION projects_with_new(p_user bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('quota', p_user));
    RETURN (SELECT count(*) FROM project p JOIN account a ON a.id = p.owner_id AND NOT a.admin WHERE p.owner_id = p_user);
END $$;

-- How many of some texts, from the first one, fit into a number of bytes. At least one.
CREATE FUNCTION within_bytes(p_texts text[], p_bytes bigint) RETURNS text[] IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE n int := cardinality(p_texts); left_ bigint := p_bytes;
BEGIN
    IF n <= 1 THEN RETURN p_texts; END IF;
    FOR i IN 1..n LOOP
        left_ := left_ - coalesce(octet_length(p_texts[i]), 0);
        IF left_ < 0 AND i > 1 THEN RETURN p_texts[:i - 1]; END IF;
    END LOOP;
    RETURN p_texts;
END $$;
