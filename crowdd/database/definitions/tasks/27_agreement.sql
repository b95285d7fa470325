-- What the counted answers to a task say together.

-- The share of pairs of p_n values that are the same, of which there are p_pairs. A single value agrees with itself.
CREATE FUNCTION share_of_pairs(p_pairs float8, p_n int) RETURNS real IMMUTABLE LANGUAGE sql AS $$
SELECT (CASE WHEN p_n > 1 THEN 2 * p_pairs / (p_n::float8 * (p_n - 1)) ELSE 1 END)::real $$;

-- The most frequent of sorted values. Its confidence is their share, agreement the share of pairs that are the same. consensus and
-- consensus_hash are null if several values are the most frequent; consensus also if it is longer than 2,000 bytes. A loop, because
-- it runs for each completion and has few values: a statement with GROUP BY takes five times as long.
CREATE FUNCTION most_frequent(p_values jsonb[]) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE s said; most int := 0; n int := 0; pairs bigint := 0; tied boolean := false; v jsonb; was jsonb;
BEGIN
    s.n_compared := coalesce(cardinality(p_values), 0);
    IF s.n_compared = 0 THEN RETURN s; END IF;
    IF p_values[1] = p_values[s.n_compared] THEN
        s.consensus := p_values[1]; s.agreement := 1; s.confidence := 1;
    ELSE
        FOREACH v IN ARRAY p_values LOOP
            IF v = was THEN n := n + 1; ELSE n := 1; was := v; END IF;
            pairs := pairs + n - 1;
            IF n > most THEN most := n; s.consensus := v; tied := false; ELSIF n = most THEN tied := true; END IF;
        END LOOP;
        s.agreement := share_of_pairs(pairs, s.n_compared);
        IF tied THEN s.consensus := NULL; RETURN s; END IF;
        s.confidence := most::float8 / s.n_compared;
    END IF;
    RETURN kept_consensus(s);
END $$;

-- With the hash of the consensus, and without a consensus that is too long to be stored a second time.
CREATE FUNCTION kept_consensus(s said) RETURNS said IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    s.consensus_hash := jsonb_hash_extended(s.consensus, 0);
    IF octet_length(s.consensus::text) > 2000 THEN s.consensus := NULL; END IF;
    RETURN s;
END $$;

-- What the counted answers to a task say, or those of them with ids in p_runs; no row without answers.
CREATE FUNCTION consensus_of(p_project bigint, p_task bigint, p_runs bigint[] DEFAULT NULL)
RETURNS TABLE (consensus jsonb, consensus_hash bigint, n_compared int, agreement real, confidence real, further jsonb) STABLE LANGUAGE plpgsql AS $$
DECLARE answers jsonb[]; infos jsonb[]; fields jsonb; s said;
BEGIN
    IF (SELECT has_label FROM project_ledger WHERE project_id = p_project) THEN
        RETURN QUERY SELECT * FROM consensus_of_label(p_project, p_task, p_runs);
        RETURN;
    END IF;
    SELECT coalesce(array_agg(a.value ORDER BY a.value) FILTER (WHERE a.value IS NOT NULL), '{}'), array_agg(a.info ORDER BY a.run), (SELECT answer_fields FROM project WHERE id = p_project)
      INTO answers, infos, fields FROM answer_values(p_project, p_task) a WHERE p_runs IS NULL OR a.run = ANY (p_runs);
    IF infos IS NULL THEN RETURN; END IF;
    s := CASE WHEN fields IS NULL THEN most_frequent(answers) ELSE first_consensus(fields, answers) END;
    IF fields->0->>'type' = 'labels' THEN
        s := said_by_choices(s, fields->0, (SELECT r.posterior FROM result r WHERE r.project_id = p_project AND r.task_id = p_task AND r.last_version));
    END IF;
    RETURN QUERY SELECT s.*, CASE WHEN fields IS NOT NULL THEN further_consensus(fields, infos) END;
END $$;

-- Compares the answers in the last result of a task again. What an expert has decided stays. Where they have classes, it finds these again, also of other answers.
CREATE FUNCTION compare_result(p_project bigint, p_task bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE res bigint;
BEGIN
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    PERFORM weigh_again(p_project, p_task);
    UPDATE result r SET (consensus, consensus_hash, n_compared, agreement, confidence, further) = (SELECT * FROM consensus_of(p_project, p_task, r.task_run_ids)), alpha = NULL
     WHERE project_id = p_project AND task_id = p_task AND last_version RETURNING id INTO res;
    IF FOUND AND (SELECT answer_fields FROM project WHERE id = p_project) IS NOT NULL THEN PERFORM compare_later(p_project, p_task, res, false); END IF;
    PERFORM say_decided(p_project, p_task);
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
    FOR t IN (SELECT task_id FROM result WHERE project_id = p_project AND task_id > due.after_task AND last_version ORDER BY task_id LIMIT p_maximum) UNION
             (SELECT task_id FROM task_ledger WHERE project_id = p_project AND task_id > due.after_task AND answers + uncounted > 0
                 AND EXISTS (SELECT FROM trust_model WHERE project_id = p_project) ORDER BY task_id LIMIT p_maximum) ORDER BY task_id LIMIT p_maximum LOOP
        PERFORM compare_result(p_project, t);
        n := n + 1; due.after_task := t;
    END LOOP;
    IF n < p_maximum THEN DELETE FROM agreement_due WHERE project_id = p_project;
    ELSE UPDATE agreement_due SET after_task = due.after_task WHERE project_id = p_project; END IF;
    RETURN n;
END $$;
