-- Results: what the answers of a completed task say together, and counters of it.

-- A task was completed. The last version counts; consensus to confidence are about the first answer field.
CREATE TABLE result (
    id bigint GENERATED ALWAYS AS IDENTITY,
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    created timestamptz NOT NULL,
    version int NOT NULL,
    last_version boolean NOT NULL,
    task_run_ids bigint[] NOT NULL,
    info jsonb,
    consensus jsonb,                                    -- the most frequent value; null: several are, or it is long
    consensus_hash bigint,                              -- its jsonb_hash_extended; null: several values are the most frequent
    n_compared int,                                     -- answers that were compared
    agreement real,                                     -- share of pairs of answers that are the same; null: not compared yet
    confidence real,
    further jsonb,                                      -- an array with what the answers say at each further field; null: there are none
    generation int,                                     -- of the model; null: it taught nothing
    class smallint,                                     -- the most probable class; null: several are, or no answer fits
    posterior real[],                                   -- the probability of each class; null: no answer fits, or no label is declared
    log_likelihoods real[],                             -- what the posterior is made of: ln prior of each class, then what each answer added
    reason text CHECK (reason IN ('sure', 'full', 'none', 'expert', 'analysis')),
    saved int NOT NULL DEFAULT 0,                       -- answers that the task did not need
    decided_by bigint,                                  -- who decided (expert, analysis), and when
    decided_at timestamptz,
    -- What the answers add to the sums of which Krippendorff's alpha is made: for each answer field an object of decimal numbers as texts,
    -- or null. Of last versions; null as a whole: not worked out yet.
    alpha jsonb,
    changed_xid bigint NOT NULL DEFAULT public.change_stamp(),    -- transaction that last changed what is shown of it
    -- Transaction in which it made its task complete. Noted here, a completion leaves the row of the ledger in its page.
    completed_xid bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, task_id, version)
);
CREATE INDEX result_id ON result (id);
-- None begins with project_id: see the note in 01_core.sql. It is there twice where an index alone answers: that needs the column itself.
CREATE INDEX result_agreement ON result ((project_id + 0), agreement, id) INCLUDE (project_id, n_compared) WHERE last_version;
CREATE INDEX result_consensus ON result (consensus_hash, project_id, id) WHERE last_version;
CREATE INDEX result_decided_by ON result (decided_by) WHERE decided_by IS NOT NULL;
-- The queue of tasks that an expert should look at: by reason and class, the least certain first.
CREATE INDEX result_review ON result (reason, project_id, class, coalesce(confidence, 0), task_id) WHERE last_version AND reason IS NOT NULL;
CREATE INDEX result_changed ON result ((project_id + 0), changed_xid, id);
CREATE INDEX result_completed ON result ((project_id + 0), completed_xid);

-- Projects whose last results have to be compared again. A million results take minutes, so a job compares them in small transactions
-- (compare_results).
CREATE TABLE agreement_due (
    project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,
    after_task bigint NOT NULL DEFAULT 0,               -- done up to here
    xact bigint                                         -- transactions before may still complete tasks by the old fields; null: not known yet
);

-- A project compares its answers in another way.
CREATE FUNCTION answer_fields_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO agreement_due (project_id) VALUES (NEW.id) ON CONFLICT (project_id) DO UPDATE SET after_task = 0, xact = NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER answer_fields_change AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN ((OLD.answer_path, OLD.answer_fields) IS DISTINCT FROM (NEW.answer_path, NEW.answer_fields)) EXECUTE FUNCTION answer_fields_changed();

-- Numbers the rows of comparison_due.
CREATE SEQUENCE comparison_stamp;

-- Results that are to be compared: appended by the transaction that completes a task of a project with answer_fields, worked out after
-- the commit (definitions/tasks/29_comparison.sql).
CREATE TABLE comparison_due (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    result_id bigint NOT NULL,
    stamp bigint NOT NULL DEFAULT nextval('comparison_stamp'), -- another one whenever the task is due again
    fresh boolean NOT NULL,                             -- the task was just completed; false: it is compared again
    failure text,                                       -- why it could not be compared; it is not tried again
    PRIMARY KEY (project_id, task_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX comparison_due_stamp ON comparison_due (fresh DESC, stamp) WHERE failure IS NULL;

-- What the last results of a project say: for each value that won how many tasks, and how far people agreed; appended to stat_delta and
-- folded (definitions/tasks/51_outcomes.sql). A project has rows for at most max_outcomes() values. All others are counted together as
-- 'other' from the first that finds no place on; while that row exists, no value gets a row of its own until choose_outcomes()
-- chooses again.
CREATE TABLE outcome_count (
    project_id bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('value', 'other', 'tied', 'none', 'pending')),
    hash bigint NOT NULL,                               -- result.consensus_hash of a value, 0 for other kinds
    tasks bigint NOT NULL,
    answers bigint NOT NULL,                            -- that were compared
    several bigint NOT NULL,                            -- tasks with two answers or more; the columns below are about them
    agreement bigint NOT NULL,                          -- sum, in billionths
    half bigint NOT NULL,                               -- with an agreement of 0.5 or more
    most bigint NOT NULL,                               -- 0.75 or more
    unanimous bigint NOT NULL,
    due_at bigint NOT NULL DEFAULT 1000,                -- of 'other': with so many tasks the values are chosen again
    field smallint NOT NULL DEFAULT 1,                  -- number of the answer field
    value jsonb,                                        -- what won, of a further field and if it is short
    PRIMARY KEY (project_id, field, kind, hash)
) WITH (fillfactor = 50);
CREATE INDEX outcome_count_other ON outcome_count (project_id, field) WHERE kind = 'other';

-- What result.further says of each answer field after the first.
CREATE FUNCTION further_outcomes(p_further jsonb)
RETURNS TABLE (field smallint, consensus_hash bigint, n_compared int, agreement real, value jsonb) IMMUTABLE LANGUAGE sql AS $$
SELECT (nth + 1)::smallint, (e->>'hash')::bigint, (e->>'answers')::int, (e->>'agreement')::real,
       CASE WHEN octet_length((e->'value')::text) <= 300 THEN e->'value' END FROM jsonb_array_elements(p_further) WITH ORDINALITY x (e, nth) $$;

-- Appends to stat_delta what becomes of results that stop being the last, are compared again or go. New ones are appended by the
-- function that completes a task, within the row that it appends anyway.
CREATE FUNCTION count_outcome() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
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
CREATE TRIGGER outcome_changes AFTER UPDATE ON result FOR EACH ROW
  WHEN (OLD.last_version <> NEW.last_version OR NEW.last_version
        AND (OLD.consensus_hash, OLD.n_compared, OLD.agreement, OLD.further) IS DISTINCT FROM (NEW.consensus_hash, NEW.n_compared, NEW.agreement, NEW.further))
  EXECUTE FUNCTION count_outcome();

CREATE FUNCTION count_outcomes_gone() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, outcomes, consensus_hash, n_compared, agreement)
    SELECT project_id, date_trunc('hour', max(created)), -count(*), consensus_hash, n_compared, agreement
      FROM gone WHERE last_version GROUP BY project_id, consensus_hash, n_compared, agreement;
    INSERT INTO stat_delta (project_id, hour, outcomes, field, consensus_hash, n_compared, agreement, value)
    SELECT g.project_id, date_trunc('hour', max(g.created)), -count(*), f.field, f.consensus_hash, f.n_compared, f.agreement, (array_agg(f.value))[1]
      FROM gone g, further_outcomes(g.further) f WHERE g.last_version AND g.further IS NOT NULL GROUP BY g.project_id, f.field, f.consensus_hash, f.n_compared, f.agreement;
    RETURN NULL;
END $$;
CREATE TRIGGER outcomes_go AFTER DELETE ON result REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_outcomes_gone();

-- Krippendorff's alpha ------------------------------------------------------------------------------------------------

-- Changes of alpha_sum: appended, and folded into it.
CREATE TABLE alpha_delta (
    project_id bigint NOT NULL,
    field smallint NOT NULL,
    part text NOT NULL,
    amount numeric NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX alpha_delta_project ON alpha_delta (project_id);

-- Sums of result.alpha of last versions, of which alpha is made.
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
