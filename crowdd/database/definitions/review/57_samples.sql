-- Random samples of results: experts decide their tasks without seeing them, so that one knows how many of all results are right
-- (docs/projects/review.md). The review itself offers the doubtful ones first. Lock order: as in 20_submission.sql, the ledger row first.

-- The results of completed tasks as volunteers made them, by what the model says now: of what an expert has decided since, the version before.
CREATE FUNCTION sampled_from(p_project bigint) RETURNS TABLE (task_id bigint, result_id bigint, generation int, class smallint, confidence real) STABLE LANGUAGE sql AS $$
SELECT r.task_id, b.id, q.generation, b.class, b.confidence
  FROM trust_model q JOIN project_ledger p ON p.project_id = q.project_id AND NOT p.trial
  JOIN result r ON r.project_id = q.project_id AND r.last_version AND r.reason IS NOT NULL
  JOIN task_ledger l ON l.project_id = r.project_id AND l.task_id = r.task_id AND l.done AND l.mode <> 'gold'
 CROSS JOIN LATERAL (SELECT * FROM result v WHERE v.project_id = r.project_id AND v.task_id = r.task_id AND v.reason <> 'expert'
                      ORDER BY v.version DESC LIMIT 1) b
 WHERE q.project_id = p_project AND b.class IS NOT NULL AND cardinality(b.posterior) = q.k
   AND (b.last_version OR (b.weighed_by->>'generation')::int = q.generation) $$;

-- Draws so many further results at random, of each class as many as it has of all (systematic sampling, Cochran 1977, chapter 8). Returns how many.
CREATE FUNCTION draw_sample(p_project bigint, p_n int, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE drawn_ int; start float8 := random();
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
    DELETE FROM sampled_result s USING trust_model q WHERE s.project_id = p_project AND q.project_id = p_project AND s.generation <> q.generation;
    WITH rest AS (
        SELECT f.*, row_number() OVER (ORDER BY f.class, random()) AS nth, count(*) OVER () AS n FROM sampled_from(p_project) f
         WHERE NOT EXISTS (SELECT FROM sampled_result s WHERE s.project_id = p_project AND s.task_id = f.task_id)
    ), chosen AS (
        SELECT * FROM rest WHERE floor(nth * least(p_n, n)::float8 / n + start) > floor((nth - 1) * least(p_n, n)::float8 / n + start)
    )
    INSERT INTO sampled_result (project_id, task_id, result_id, generation, class, confidence, drawn, number)
    SELECT p_project, task_id, result_id, generation, class, confidence, p_now,
           coalesce((SELECT max(number) FROM sampled_result WHERE project_id = p_project), 0) + row_number() OVER (ORDER BY random()) FROM chosen;
    GET DIAGNOSTICS drawn_ = ROW_COUNT;
    RETURN drawn_;
END $$;

-- Stores what an expert says of a task of the sample: decided, before (somebody has said it), class (there is no such one) or none. If no expert
-- has decided the task, it is decided, too (decide_task).
CREATE FUNCTION decide_sampled(p_project bigint, p_task bigint, p_user bigint, p_class int, p_owns boolean, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE s sampled_result; r result;
BEGIN
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    SELECT x.* INTO s FROM sampled_result x JOIN trust_model q USING (project_id, generation) WHERE x.project_id = p_project AND x.task_id = p_task FOR UPDATE OF x;
    IF NOT FOUND THEN RETURN 'none'; END IF;
    IF s.decided IS NOT NULL THEN RETURN 'before'; END IF;
    IF NOT p_class BETWEEN 1 AND (SELECT cardinality(choices) FROM trust_model WHERE project_id = p_project) THEN RETURN 'class'; END IF;
    UPDATE sampled_result SET decided = p_class, decided_by = p_user, decided_at = p_now WHERE project_id = p_project AND task_id = p_task;
    SELECT * INTO r FROM result WHERE project_id = p_project AND task_id = p_task AND last_version;
    IF r.reason <> 'expert' THEN PERFORM decide_task(p_project, p_task, r.id, p_user, p_class, p_owns, p_now); END IF;
    RETURN 'decided';
END $$;

-- Has the next results of a project count as changed, at most p_maximum, because another curve says their confidence. Whether there may be more.
CREATE FUNCTION tell_results(p_project bigint, p_maximum int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE told bigint[]; next_ bigint;
BEGIN
    SELECT (recalibration->>'told')::bigint INTO next_ FROM trust_model WHERE project_id = p_project;
    IF next_ IS NULL THEN RETURN false; END IF;
    SELECT array_agg(id) INTO told FROM (SELECT id FROM result WHERE project_id = p_project AND id > next_ AND last_version AND reason IN ('sure', 'full')
                                          ORDER BY id LIMIT p_maximum FOR UPDATE) r;
    UPDATE result SET changed_xid = change_stamp() WHERE project_id = p_project AND id = ANY (told);
    UPDATE trust_model SET recalibration = CASE WHEN told IS NULL THEN recalibration - 'told' ELSE jsonb_set(recalibration, '{told}', to_jsonb(told[cardinality(told)])) END
     WHERE project_id = p_project AND (recalibration->>'told')::bigint = next_;
    RETURN told IS NOT NULL;
END $$;
