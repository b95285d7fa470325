-- What the last results of a project say together: counters of each value that won, and of agreement.
--
-- Each answer field (field 1: the first, or the value by which answers are compared without fields) has counters of its own.
-- A completion appends its result to stat_delta, in the row that its answer appends anyway, and a row for each further field. fold_stats() folds these into
-- outcome_count and readers add both, as with other counters (50_statistics.sql). Free-text answers have too many values for a
-- row each: a field has rows for at most max_outcomes() of them. From the first one that finds no place on there is a row
-- 'other', every value without a row of its own is counted there, and no further value gets a row. So each row is exact,
-- whatever comes and goes. choose_outcomes() chooses the most frequent values again when 'other' has doubled, which costs a
-- constant amount for each result, and after results were compared by another key.

CREATE FUNCTION max_outcomes() RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT 1000 $$;

-- What p_n results with these columns add to outcome_count, unless the value is counted as 'other'. Opinions have no agreement.
CREATE FUNCTION outcome_of(p_n int, p_hash bigint, p_compared int, p_agreement real)
RETURNS TABLE (kind text, hash bigint, tasks int, answers int, several int, agreement bigint, half int, most int, unanimous int) IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_compared IS NULL THEN 'pending' WHEN p_compared = 0 THEN 'none' WHEN p_hash IS NULL THEN 'tied' ELSE 'value' END, coalesce(p_hash, 0),
       p_n, p_n * coalesce(p_compared, 0), CASE WHEN a.several THEN p_n ELSE 0 END,
       CASE WHEN a.several THEN p_n * round(p_agreement::float8 * 1e9)::bigint ELSE 0 END,
       CASE WHEN a.several AND p_agreement >= 0.5 THEN p_n ELSE 0 END, CASE WHEN a.several AND p_agreement >= 0.75 THEN p_n ELSE 0 END,
       CASE WHEN a.several AND p_agreement = 1 THEN p_n ELSE 0 END
  FROM (SELECT p_compared > 1 AND p_agreement IS NOT NULL AS several) a $$;

-- How many more values of a field get a row of their own.
CREATE FUNCTION outcome_room(p_project bigint, p_field smallint) RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT CASE WHEN EXISTS (SELECT FROM outcome_count WHERE project_id = p_project AND field = p_field AND kind = 'other') THEN 0
            ELSE max_outcomes() - (SELECT count(*) FROM outcome_count WHERE project_id = p_project AND field = p_field AND kind = 'value') END $$;

-- What is appended and not folded, by value.
CREATE FUNCTION unfolded_outcomes(p_project bigint)
RETURNS TABLE (field smallint, kind text, hash bigint, tasks bigint, answers bigint, several bigint, agreement bigint, half bigint, most bigint, unanimous bigint, value jsonb) STABLE LANGUAGE sql AS $$
SELECT coalesce(d.field, 1::smallint), o.kind, o.hash, sum(o.tasks), sum(o.answers), sum(o.several), sum(o.agreement)::bigint, sum(o.half), sum(o.most), sum(o.unanimous),
       (array_agg(d.value) FILTER (WHERE d.value IS NOT NULL))[1]
  FROM stat_delta d, outcome_of(d.outcomes, d.consensus_hash, d.n_compared, d.agreement) o
 WHERE d.project_id = p_project AND (d.project_id, d.xact) >= (p_project, (SELECT unfolded_from())) AND d.outcomes IS NOT NULL GROUP BY 1, 2, 3 $$;

-- What the rows of results say, by value. Reads all last results of the project.
CREATE FUNCTION recounted_outcomes(p_project bigint)
RETURNS TABLE (field smallint, kind text, hash bigint, tasks bigint, answers bigint, several bigint, agreement bigint, half bigint, most bigint, unanimous bigint, value jsonb) STABLE LANGUAGE sql AS $$
SELECT f.field, o.kind, o.hash, sum(o.tasks), sum(o.answers), sum(o.several), sum(o.agreement)::bigint, sum(o.half), sum(o.most), sum(o.unanimous),
       (array_agg(f.value) FILTER (WHERE f.value IS NOT NULL))[1]
  FROM (SELECT 1::smallint AS field, consensus_hash, n_compared, agreement, NULL::jsonb AS value FROM result WHERE project_id = p_project AND last_version UNION ALL
        SELECT x.* FROM result r, further_outcomes(r.further) x WHERE r.project_id = p_project AND r.last_version AND r.further IS NOT NULL) f,
       outcome_of(1, f.consensus_hash, f.n_compared, f.agreement) o GROUP BY 1, 2, 3 $$;

-- Exact counters of a project, or of one of its fields. Costs its rows, which are few, and what is not folded. value: of further fields.
CREATE FUNCTION outcomes_of(p_project bigint, p_field int DEFAULT NULL)
RETURNS TABLE (field smallint, kind text, hash bigint, tasks bigint, answers bigint, several bigint, agreement bigint, half bigint, most bigint, unanimous bigint, value jsonb) STABLE LANGUAGE sql AS $$
WITH folded AS MATERIALIZED (SELECT * FROM outcome_count WHERE project_id = p_project AND (p_field IS NULL OR field = p_field))
SELECT field, kind, hash, sum(tasks)::bigint, sum(answers)::bigint, sum(several)::bigint, sum(agreement)::bigint, sum(half)::bigint, sum(most)::bigint, sum(unanimous)::bigint,
       (array_agg(value) FILTER (WHERE value IS NOT NULL))[1] FROM (
    SELECT field, kind, hash, tasks, answers, several, agreement, half, most, unanimous, value FROM folded UNION ALL
    SELECT field, CASE WHEN other THEN 'other' ELSE kind END, CASE WHEN other THEN 0 ELSE hash END, tasks, answers, several, agreement, half, most, unanimous, CASE WHEN NOT other THEN value END
      FROM (SELECT u.*, u.kind = 'value' AND f.kind IS NULL AND EXISTS (SELECT FROM folded o WHERE o.kind = 'other' AND o.field = u.field) AS other
              FROM unfolded_outcomes(p_project) u LEFT JOIN folded f USING (field, kind, hash) WHERE p_field IS NULL OR u.field = p_field) o) s GROUP BY 1, 2, 3 $$;

-- Chooses again which values of a project have counters of their own, the most frequent ones, and counts all from the rows.
-- One statement sees the rows and what is not folded yet, so that both together are exact.
CREATE FUNCTION choose_outcomes(p_project bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    DELETE FROM outcome_count WHERE project_id = p_project;
    INSERT INTO outcome_count (project_id, field, kind, hash, tasks, answers, several, agreement, half, most, unanimous, value)
    SELECT p_project, field, kind, hash, sum(tasks), sum(answers), sum(several), sum(agreement), sum(half), sum(most), sum(unanimous),
           (array_agg(value) FILTER (WHERE kind = 'value'))[1] FROM (
        SELECT field, CASE WHEN kind = 'value' AND nth > max_outcomes() THEN 'other' ELSE kind END AS kind,
               CASE WHEN kind = 'value' AND nth > max_outcomes() THEN 0 ELSE hash END AS hash, tasks, answers, several, agreement, half, most, unanimous, value
          FROM (SELECT field, kind, hash, row_number() OVER (PARTITION BY field, kind ORDER BY coalesce(c.tasks, 0) DESC, hash) AS nth, coalesce(c.value, u.value) AS value,
                       coalesce(c.tasks, 0) - coalesce(u.tasks, 0) AS tasks, coalesce(c.answers, 0) - coalesce(u.answers, 0) AS answers,
                       coalesce(c.several, 0) - coalesce(u.several, 0) AS several, coalesce(c.agreement, 0) - coalesce(u.agreement, 0) AS agreement,
                       coalesce(c.half, 0) - coalesce(u.half, 0) AS half, coalesce(c.most, 0) - coalesce(u.most, 0) AS most,
                       coalesce(c.unanimous, 0) - coalesce(u.unanimous, 0) AS unanimous
                  FROM recounted_outcomes(p_project) c FULL JOIN unfolded_outcomes(p_project) u USING (field, kind, hash)) n) k
     GROUP BY 2, 3, 4;
    UPDATE outcome_count SET due_at = 2 * tasks + 1000 WHERE project_id = p_project AND kind = 'other';
END $$;
