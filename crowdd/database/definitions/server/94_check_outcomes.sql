-- Recounts what the last results of a project say together (51_outcomes.sql), in a running system.

-- Counters of what results say, and the values that are counted together. Relies on check_agreement.
CREATE FUNCTION check_outcomes(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH places AS MATERIALIZED (SELECT field, kind, hash FROM outcome_count WHERE project_id = p_project),
counted AS (
    SELECT field, CASE WHEN other THEN 'other' ELSE kind END AS kind, CASE WHEN other THEN 0 ELSE hash END AS hash, sum(tasks) AS tasks, sum(answers) AS answers,
           sum(several) AS several, sum(agreement) AS agreement, sum(half) AS half, sum(most) AS most, sum(unanimous) AS unanimous
      FROM (SELECT r.*, r.kind = 'value' AND p.kind IS NULL AND EXISTS (SELECT FROM places o WHERE o.kind = 'other' AND o.field = r.field) AS other
              FROM recounted_outcomes(p_project) r LEFT JOIN places p USING (field, kind, hash)) c GROUP BY 1, 2, 3
)
SELECT p_project, 'outcome_count.' || v.what, concat_ws(' ', CASE WHEN field > 1 THEN 'field ' || field END, kind, CASE kind WHEN 'value' THEN hash END), v.stored, v.counted
  FROM outcomes_of(p_project) s FULL JOIN counted c USING (field, kind, hash),
       LATERAL (VALUES ('tasks', coalesce(s.tasks, 0)::numeric, coalesce(c.tasks, 0)::numeric), ('answers', coalesce(s.answers, 0), coalesce(c.answers, 0)),
                       ('several', coalesce(s.several, 0), coalesce(c.several, 0)), ('agreement', coalesce(s.agreement, 0), coalesce(c.agreement, 0)),
                       ('half', coalesce(s.half, 0), coalesce(c.half, 0)), ('most', coalesce(s.most, 0), coalesce(c.most, 0)),
                       ('unanimous', coalesce(s.unanimous, 0), coalesce(c.unanimous, 0))) v(what, stored, counted)
 WHERE v.stored <> v.counted ORDER BY 3, 2 $$;

CREATE FUNCTION repair_outcomes(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE sql AS $$ SELECT choose_outcomes(p_project) $$;
