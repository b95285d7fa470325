-- What an answer adds to the counters. Functions of the stored row, so that it can be subtracted again and recounted.

-- Seconds from handing out to the answer, at most until the lease ended: p_late is the time between that end and the
-- answer. A lease lasts at most six lease times.
CREATE FUNCTION time_spent(p_granted timestamptz, p_finished timestamptz, p_late double precision) RETURNS numeric IMMUTABLE LANGUAGE sql AS $$
SELECT extract(epoch FROM p_finished - p_granted) - coalesce(p_late::numeric, 0) $$;

-- The account whose score an answer counts for. Null for trial answers and for answers of owners and co-owners in their
-- own project.
CREATE FUNCTION scorer(p_project bigint, p_user bigint, p_trial boolean) RETURNS bigint STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF p_user IS NULL OR p_trial IS NOT FALSE THEN RETURN NULL; END IF;
    RETURN CASE WHEN NOT EXISTS (SELECT FROM project WHERE id = p_project AND owners_ids @> ARRAY[p_user]) THEN p_user END;
END $$;

-- Adds (p_sign 1) the answers in a project to people's scores, or subtracts them (-1).
CREATE FUNCTION add_to_scores(p_project bigint, p_users bigint[], p_sign int) RETURNS void LANGUAGE sql AS $$
INSERT INTO stat_delta (project_id, hour, user_id, runs)
SELECT 0, 'epoch', user_id, p_sign * count(*) FROM task_run
 WHERE project_id = p_project AND user_id = ANY (p_users) AND NOT trial GROUP BY 3 $$;

-- Sets the owners of a project and updates scores.
CREATE FUNCTION set_owners(p_project bigint, p_owner bigint, p_owners bigint[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE was bigint[];
BEGIN
    SELECT owners_ids INTO was FROM project WHERE id = p_project FOR UPDATE;
    UPDATE project SET owner_id = p_owner, owners_ids = p_owners, updated = p_now WHERE id = p_project;
    PERFORM add_to_scores(p_project, ARRAY(SELECT unnest(was) EXCEPT SELECT unnest(p_owners)), 1);
    PERFORM add_to_scores(p_project, ARRAY(SELECT unnest(p_owners) EXCEPT SELECT unnest(was)), -1);
END $$;
