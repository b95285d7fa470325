-- What the answers of a completed task say at each declared answer field (info.answers), and counters of it by field.

-- The declared fields with what comparing their values needs. Null: none are declared, or a single one that is compared by equal
-- values, as answers without fields are. Then completing a task needs nothing but answer_path.
CREATE FUNCTION declared_fields(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN bool_and(valid) AND count(*) <= 10 AND (count(*) > 1 OR bool_or(type IN ('labels', 'number', 'text'))) THEN jsonb_agg(field ORDER BY nth) END
  FROM (SELECT nth, type,
               coalesce(jsonb_typeof(f->'name') = 'string' AND jsonb_typeof(f->'at') = 'string' AND (f->>'at' = '' OR f->>'at' LIKE '/%')
                        AND type IN ('label', 'labels', 'number', 'text', 'boxes', 'points', 'polygon', 'spans'), false) AS valid,
               jsonb_strip_nulls(jsonb_build_object(
                   'path', CASE WHEN f->>'at' <> '' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY n)
                                                            FROM unnest(string_to_array(substr(f->>'at', 2), '/')) WITH ORDINALITY p (part, n)) ELSE '{}' END::text,
                   'type', CASE WHEN type = 'labels' AND choices IS NULL THEN 'label' ELSE type END,
                   'choices', CASE WHEN type = 'label' AND f ? 'unsure' THEN choices || jsonb_build_array(f->'unsure') ELSE choices END,
                   'min', CASE WHEN jsonb_typeof(f->'min') = 'number' THEN f->'min' END, 'max', CASE WHEN jsonb_typeof(f->'max') = 'number' THEN f->'max' END,
                   'tolerance', CASE WHEN jsonb_typeof(f->'tolerance') = 'number' THEN f->'tolerance' END)) AS field
          FROM jsonb_array_elements(CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers' WHEN 'object' THEN jsonb_build_array(p_info->'answers') END)
               WITH ORDINALITY e (f, nth),
               LATERAL (SELECT f->>'type' AS type, CASE WHEN jsonb_typeof(f->'choices') = 'array' THEN
                               CASE WHEN jsonb_array_length(f->'choices') BETWEEN 1 AND 50 THEN f->'choices' END END AS choices) c) d $$;

-- The names of the declared fields; null: none are declared.
CREATE FUNCTION declared_names(p_info jsonb) RETURNS text[] IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT array_agg(f->>'name' ORDER BY nth) FROM jsonb_array_elements(CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers'
       WHEN 'object' THEN jsonb_build_array(p_info->'answers') END) WITH ORDINALITY e (f, nth)
HAVING bool_and(jsonb_typeof(f->'name') = 'string') AND count(*) <= 10 $$;

ALTER TABLE project ADD COLUMN answer_fields jsonb GENERATED ALWAYS AS (declared_fields(info)) STORED,
    ADD COLUMN answer_names text[] GENERATED ALWAYS AS (declared_names(info)) STORED;

DROP TRIGGER answer_path_changes ON project;
ALTER FUNCTION answer_path_changed() RENAME TO answer_fields_changed;
CREATE TRIGGER answer_fields_change AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN ((OLD.answer_path, OLD.answer_fields) IS DISTINCT FROM (NEW.answer_path, NEW.answer_fields)) EXECUTE FUNCTION answer_fields_changed();

ALTER TABLE result
    ADD confidence real,                                        -- of the first field, whose other columns are consensus to agreement
    ADD further jsonb;                                          -- an array with what the answers say at each further field; null: there are none

-- By field, 1 for the first. value: what won, of a further field and if it is short.
ALTER TABLE stat_delta ADD field smallint, ADD value jsonb;     -- field null: the first
ALTER TABLE outcome_count ADD field smallint NOT NULL DEFAULT 1, ADD value jsonb, DROP CONSTRAINT outcome_count_pkey, DROP CONSTRAINT outcome_count_kind_check,
    ADD PRIMARY KEY (project_id, field, kind, hash), ADD CONSTRAINT outcome_count_kind_check CHECK (kind IN ('value', 'other', 'tied', 'none', 'pending'));
DROP INDEX outcome_count_other;
CREATE INDEX outcome_count_other ON outcome_count (project_id, field) WHERE kind = 'other';

-- What result.further says of each field.
CREATE FUNCTION further_outcomes(p_further jsonb)
RETURNS TABLE (field smallint, consensus_hash bigint, n_compared int, agreement real, value jsonb) IMMUTABLE LANGUAGE sql AS $$
SELECT (nth + 1)::smallint, (e->>'hash')::bigint, (e->>'answers')::int, (e->>'agreement')::real,
       CASE WHEN octet_length((e->'value')::text) <= 300 THEN e->'value' END FROM jsonb_array_elements(p_further) WITH ORDINALITY x (e, nth) $$;

CREATE OR REPLACE FUNCTION count_outcome() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, outcomes, field, consensus_hash, n_compared, agreement, value)
    SELECT NEW.project_id, date_trunc('hour', NEW.created), sum(n), field, consensus_hash, n_compared, agreement, (array_agg(value))[1]
      FROM (SELECT -1 AS n, NULL::smallint AS field, OLD.consensus_hash, OLD.n_compared, OLD.agreement, NULL::jsonb AS value WHERE OLD.last_version UNION ALL
            SELECT 1, NULL, NEW.consensus_hash, NEW.n_compared, NEW.agreement, NULL WHERE NEW.last_version UNION ALL
            SELECT -1, f.* FROM further_outcomes(OLD.further) f WHERE OLD.last_version UNION ALL
            SELECT 1, f.* FROM further_outcomes(NEW.further) f WHERE NEW.last_version) o
     GROUP BY field, consensus_hash, n_compared, agreement HAVING sum(n) <> 0;
    RETURN NULL;
END $$;
DROP TRIGGER outcome_changes ON result;
CREATE TRIGGER outcome_changes AFTER UPDATE ON result FOR EACH ROW
  WHEN (OLD.last_version <> NEW.last_version OR NEW.last_version
        AND (OLD.consensus_hash, OLD.n_compared, OLD.agreement, OLD.further) IS DISTINCT FROM (NEW.consensus_hash, NEW.n_compared, NEW.agreement, NEW.further))
  EXECUTE FUNCTION count_outcome();

CREATE OR REPLACE FUNCTION count_outcomes_gone() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, outcomes, consensus_hash, n_compared, agreement)
    SELECT project_id, date_trunc('hour', max(created)), -count(*), consensus_hash, n_compared, agreement
      FROM gone WHERE last_version GROUP BY project_id, consensus_hash, n_compared, agreement;
    INSERT INTO stat_delta (project_id, hour, outcomes, field, consensus_hash, n_compared, agreement, value)
    SELECT g.project_id, date_trunc('hour', max(g.created)), -count(*), f.field, f.consensus_hash, f.n_compared, f.agreement, (array_agg(f.value))[1]
      FROM gone g, further_outcomes(g.further) f WHERE g.last_version AND g.further IS NOT NULL GROUP BY g.project_id, f.field, f.consensus_hash, f.n_compared, f.agreement;
    RETURN NULL;
END $$;

-- Agreement is now the share of pairs of answers that are the same, and was that of the most frequent one: all results are compared again.
INSERT INTO agreement_due (project_id) SELECT id FROM project p WHERE EXISTS (SELECT FROM result r WHERE r.project_id = p.id)
    ON CONFLICT (project_id) DO UPDATE SET after_task = 0, xact = NULL;
