-- What the counted answers to a task say together.

-- The most frequent of sorted values, and its share. consensus and consensus_hash are null if several values are the most
-- frequent; consensus also if it is longer than 2,000 bytes. A loop, because it runs for each completion and has few values: a
-- statement with GROUP BY takes five times as long.
CREATE FUNCTION most_frequent(p_values jsonb[], OUT consensus jsonb, OUT consensus_hash bigint, OUT n_compared int, OUT agreement real)
IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE most int := 0; n int := 0; tied boolean := false; v jsonb; was jsonb;
BEGIN
    n_compared := cardinality(p_values);
    IF p_values[1] = p_values[n_compared] THEN
        consensus := p_values[1]; most := n_compared;
    ELSE
        FOREACH v IN ARRAY p_values LOOP
            IF v = was THEN n := n + 1; ELSE n := 1; was := v; END IF;
            IF n > most THEN most := n; consensus := v; tied := false; ELSIF n = most THEN tied := true; END IF;
        END LOOP;
    END IF;
    agreement := most::float8 / n_compared;
    IF tied THEN consensus := NULL; RETURN; END IF;
    consensus_hash := jsonb_hash_extended(consensus, 0);
    IF octet_length(consensus::text) > 2000 THEN consensus := NULL; END IF;
END $$;

-- What the counted answers to a task say, or those of them with ids in p_runs; no row without answers.
CREATE FUNCTION consensus_of(p_project bigint, p_task bigint, p_runs bigint[] DEFAULT NULL)
RETURNS TABLE (consensus jsonb, consensus_hash bigint, n_compared int, agreement real) STABLE LANGUAGE sql AS $$
SELECT c.* FROM (SELECT array_agg(value ORDER BY value) AS values FROM answer_values(p_project, p_task)
                  WHERE p_runs IS NULL OR run = ANY (p_runs)) v, most_frequent(v.values) c WHERE v.values IS NOT NULL $$;

-- Compares the answers in the last result of a task again.
CREATE FUNCTION compare_result(p_project bigint, p_task bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    UPDATE result r SET (consensus, consensus_hash, n_compared, agreement) = (SELECT * FROM consensus_of(p_project, p_task, r.task_run_ids))
     WHERE project_id = p_project AND task_id = p_task AND last_version;
END $$;

-- Compares the answers to the last results of the next tasks of a project that is due (agreement_due), at most p_maximum.
-- Returns how many; less than p_maximum: the project is done, or transactions that began before it was due still run. A stamp of
-- the future comes from another server, which counts transactions differently.
CREATE FUNCTION compare_results(p_project bigint, p_maximum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE due agreement_due; t bigint; n int := 0;
BEGIN
    UPDATE agreement_due SET xact = least(xact, pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
     WHERE project_id = p_project RETURNING * INTO due;
    IF NOT FOUND OR due.xact > pg_snapshot_xmin(pg_current_snapshot())::text::bigint THEN RETURN 0; END IF;
    FOR t IN SELECT task_id FROM result WHERE project_id = p_project AND task_id > due.after_task AND last_version ORDER BY task_id LIMIT p_maximum LOOP
        PERFORM compare_result(p_project, t);
        n := n + 1; due.after_task := t;
    END LOOP;
    IF n < p_maximum THEN DELETE FROM agreement_due WHERE project_id = p_project;
    ELSE UPDATE agreement_due SET after_task = due.after_task WHERE project_id = p_project; END IF;
    RETURN n;
END $$;
