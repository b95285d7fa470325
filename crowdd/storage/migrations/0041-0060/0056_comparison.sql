-- Consensus of texts and marks, which is worked out after the commit, and Krippendorff's alpha (definitions/tasks/29_comparison.sql).

-- As before (0052), but also of a single field whose values are not compared by equality, and of a single label with choices,
-- whose alpha needs them. Null: no field is declared, or a single label without choices.
CREATE OR REPLACE FUNCTION declared_fields(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN bool_and(valid) AND count(*) <= 10 AND (count(*) > 1 OR bool_or(type <> 'label') OR bool_or(field ? 'choices')) THEN jsonb_agg(field ORDER BY nth) END
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
DROP TRIGGER answer_fields_change ON project;
ALTER TABLE project DROP COLUMN answer_fields, ADD COLUMN answer_fields jsonb GENERATED ALWAYS AS (declared_fields(info)) STORED;
CREATE TRIGGER answer_fields_change AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN ((OLD.answer_path, OLD.answer_fields) IS DISTINCT FROM (NEW.answer_path, NEW.answer_fields)) EXECUTE FUNCTION answer_fields_changed();

-- Results that are to be compared: appended by the transaction that completes a task of a project with answer_fields.
CREATE SEQUENCE comparison_stamp;
CREATE TABLE comparison_due (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    result_id bigint NOT NULL,
    stamp bigint NOT NULL DEFAULT nextval('comparison_stamp'),  -- another one whenever the task is due anew
    fresh boolean NOT NULL,                                     -- the task was just completed; false: it is compared again
    failure text,                                               -- why it could not be compared; it is not tried again
    PRIMARY KEY (project_id, task_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX comparison_due_stamp ON comparison_due (fresh DESC, stamp) WHERE failure IS NULL;

-- What the answers of a task add to the sums of which alpha is made: for each answer field an object of decimal numbers as texts, or
-- null. Of last versions; null as a whole: not worked out yet.
ALTER TABLE result ADD alpha jsonb;
CREATE TABLE alpha_delta (                                      -- appended, folded into alpha_sum
    project_id bigint NOT NULL,
    field smallint NOT NULL,
    part text NOT NULL,
    amount numeric NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX alpha_delta_project ON alpha_delta (project_id);
CREATE TABLE alpha_sum (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    field smallint NOT NULL,
    part text NOT NULL,
    amount numeric NOT NULL,
    PRIMARY KEY (project_id, field, part)
) WITH (fillfactor = 50);
-- The expected disagreement, where it is measured by pairs drawn at random, and of how many answers that was.
CREATE TABLE alpha_expected (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    field smallint NOT NULL,
    expected float8,
    answers numeric NOT NULL,
    PRIMARY KEY (project_id, field)
);

CREATE FUNCTION alpha_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO alpha_delta (project_id, field, part, amount)
    SELECT project_id, field, part, sum(amount)
      FROM (SELECT OLD.project_id, f.nth AS field, e.key AS part, -e.value::numeric AS amount
              FROM jsonb_array_elements(CASE WHEN OLD.last_version THEN OLD.alpha END) WITH ORDINALITY f (sums, nth), jsonb_each_text(nullif(f.sums, 'null')) e UNION ALL
            SELECT NEW.project_id, f.nth, e.key, e.value::numeric
              FROM jsonb_array_elements(CASE WHEN TG_OP = 'UPDATE' AND NEW.last_version THEN NEW.alpha END) WITH ORDINALITY f (sums, nth), jsonb_each_text(nullif(f.sums, 'null')) e) c
     GROUP BY 1, 2, 3 HAVING sum(amount) <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER alpha_changes AFTER UPDATE ON result FOR EACH ROW
  WHEN ((OLD.alpha IS NOT NULL OR NEW.alpha IS NOT NULL) AND (OLD.last_version, OLD.alpha) IS DISTINCT FROM (NEW.last_version, NEW.alpha)) EXECUTE FUNCTION alpha_changed();
CREATE TRIGGER alpha_goes AFTER DELETE ON result FOR EACH ROW WHEN (OLD.alpha IS NOT NULL AND OLD.last_version) EXECUTE FUNCTION alpha_changed();

-- Texts and marks are compared by other rules than before, and alpha is new.
INSERT INTO agreement_due (project_id) SELECT id FROM project p WHERE answer_fields IS NOT NULL AND EXISTS (SELECT FROM result r WHERE r.project_id = p.id)
    ON CONFLICT (project_id) DO UPDATE SET after_task = 0, xact = NULL;
