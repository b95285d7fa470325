-- Trust in answers: the class of each answer, what is known of volunteers, why a task was complete, gold tasks
-- (definitions/trust/52_trust_model.sql, docs/projects/trust.md).

-- What a project declares of the label that its first answer field is: {path, choices, fixed}. path is a text[], as in
-- answer_fields. fixed: the choices are declared; otherwise classes are numbered as they appear. Null: the first field is none.
CREATE FUNCTION declared_label(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN f->>'type' = 'label' AND jsonb_typeof(f->'name') = 'string' AND jsonb_typeof(f->'at') = 'string' AND (f->>'at' = '' OR f->>'at' LIKE '/%') THEN
       jsonb_build_object(
           'path', CASE WHEN f->>'at' <> '' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY n)
                                                    FROM unnest(string_to_array(substr(f->>'at', 2), '/')) WITH ORDINALITY p (part, n)) ELSE '{}' END::text,
           'choices', coalesce(choices, '[]') || CASE WHEN f ? 'unsure' AND NOT coalesce(choices, '[]') @> (f->'unsure') THEN jsonb_build_array(f->'unsure') ELSE '[]' END,
           'fixed', choices IS NOT NULL) END
  FROM (SELECT f, CASE WHEN jsonb_typeof(f->'choices') = 'array' THEN CASE WHEN jsonb_array_length(f->'choices') BETWEEN 1 AND 50 THEN f->'choices' END END AS choices
          FROM (SELECT CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers'->0 WHEN 'object' THEN p_info->'answers' END AS f) d) c $$;

-- When a task is complete before it has all its answers (info.trust): {min_answers, confidence}. Null: never.
CREATE FUNCTION declared_trust(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN jsonb_typeof(t) = 'object' THEN jsonb_build_object(
           'min_answers', CASE WHEN jsonb_typeof(t->'min_answers') = 'number' THEN least(greatest((t->>'min_answers')::numeric, 1), 50)::int ELSE 2 END,
           'confidence', CASE WHEN jsonb_typeof(t->'confidence') = 'number' THEN least(greatest((t->>'confidence')::numeric, 0.5), 0.999) ELSE 0.95 END) END
  FROM (SELECT p_info->'trust' AS t) d $$;

ALTER TABLE project ADD COLUMN answer_label jsonb GENERATED ALWAYS AS (declared_label(info)) STORED,
    ADD COLUMN trust jsonb GENERATED ALWAYS AS (declared_trust(info)) STORED;

-- Numbers the models of all projects: what was learned under one says nothing under another.
CREATE SEQUENCE trust_generation AS int;

-- One row for each project whose first answer field is a label. Numbers of classes begin with 1. A table of numbers by answer and
-- truth has that of answer l and truth j at (l - 1) * k + j. Sums of probabilities are whole multiples of 2^-20, so that they stay exact.
CREATE TABLE trust_model (
    project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,
    generation int NOT NULL,                                    -- another one when the label changes: what was learned before no longer counts
    path text[] NOT NULL,                                       -- where the label stands in answers
    choices jsonb[] NOT NULL,
    fixed boolean NOT NULL,                                     -- false: choices are those that have appeared, at most 50
    k smallint NOT NULL CHECK (k BETWEEN 2 AND 50),             -- classes
    confused boolean NOT NULL,                                  -- whether it is known who confuses which classes (k <= 10 and fixed)
    min_answers int,                                            -- adaptive redundancy; null: off
    confidence real,
    prior real[] NOT NULL,                                      -- published by the fold: ln of the smoothed class frequencies
    newcomer real[] NOT NULL,                                   -- reliability.log_likelihoods of volunteers without a row
    accuracy real NOT NULL DEFAULT 0.75,                        -- mean of the project
    guarded boolean NOT NULL DEFAULT false,                     -- volunteers agree hardly more than by chance: they teach nothing about each other
    tasks bigint NOT NULL DEFAULT 0,                            -- sums of evidence: completed tasks,
    class_sums float8[] NOT NULL DEFAULT '{}',                  -- how probable each class was in them,
    confusion_sums float8[] NOT NULL DEFAULT '{}',              -- by answer and truth (k <= 10 and fixed),
    gold_right float8 NOT NULL DEFAULT 0, gold_seen float8 NOT NULL DEFAULT 0,
    peer_right float8 NOT NULL DEFAULT 0, peer_seen float8 NOT NULL DEFAULT 0,
    saved bigint NOT NULL DEFAULT 0,                            -- answers that completed tasks did not need
    sure bigint NOT NULL DEFAULT 0, "full" bigint NOT NULL DEFAULT 0, "none" bigint NOT NULL DEFAULT 0, -- completed tasks by reason
    published_tasks bigint NOT NULL DEFAULT 0,                  -- tasks when all volunteers were worked out last
    published_upto text                                         -- the last of them that is done; null: all are
) WITH (fillfactor = 50);

-- What is known of a volunteer in a project.
CREATE TABLE reliability (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    generation int NOT NULL DEFAULT 0,                          -- of the model, 0 without one; of another one: nothing is known yet
    gold_right float8 NOT NULL DEFAULT 0, gold_seen float8 NOT NULL DEFAULT 0,
    peer_right float8 NOT NULL DEFAULT 0, peer_seen float8 NOT NULL DEFAULT 0,  -- in completed tasks: how probable their answers were
    halved int NOT NULL DEFAULT 0,                              -- how often these four and confusions were halved
    gold_given int NOT NULL DEFAULT 0,                          -- gold tasks answered; never halved
    confusions float8[],                                        -- by answer and truth; null where the model has none
    accuracy real,                                              -- worked out by the fold: estimate,
    log_likelihoods real[],                                     -- ln P(answer | truth) by both, or one: ln(a (k - 1) / (1 - a)),
    known boolean NOT NULL DEFAULT false,                       -- enough is known: their answers have a whole vote in any network,
    counts boolean NOT NULL DEFAULT true,                       -- false: no better than chance; their answers do not count
    lifted boolean NOT NULL DEFAULT false,                      -- the owner has them count nevertheless
    PRIMARY KEY (project_id, actor)
) WITH (fillfactor = 70);

-- What answers teach about volunteers: appended by the transaction that completes a task, folded into trust_model and reliability,
-- and deleted. sign -1 takes back what was appended before. gold: one volunteer's answer to a gold task; posterior is then 1 for
-- the right class; where the answer is no label, classes and posterior are null.
CREATE TABLE evidence (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    generation int NOT NULL DEFAULT 0,                          -- of the model, 0 without one
    sign smallint NOT NULL CHECK (sign IN (1, -1)),
    gold boolean NOT NULL DEFAULT false,
    actors text[] NOT NULL,
    classes smallint[],
    posterior real[],
    is_right boolean,                                           -- of gold
    reason text,                                                -- of a completed task: why it was complete
    saved int NOT NULL DEFAULT 0                                -- answers that it did not need
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX evidence_project ON evidence (project_id);

ALTER TABLE project_ledger
    ADD COLUMN has_label boolean NOT NULL DEFAULT false,        -- whether it has a trust_model
    ADD COLUMN n_gold int NOT NULL DEFAULT 0;                   -- gold tasks

-- n_answers is what is wanted so far while redundancy is adaptive, and max_answers is what the owner has set. Null: it is not adaptive.
ALTER TABLE task_ledger ADD COLUMN max_answers int;

ALTER TABLE task_run
    ADD COLUMN class smallint,                                  -- number of its choice; null: it does not fit, or no label is declared
    ADD COLUMN unreliable boolean NOT NULL DEFAULT false;       -- not counted, because its volunteer was no better than chance

ALTER TABLE result
    ADD COLUMN generation int,                                  -- of the model; null: it taught nothing
    ADD COLUMN class smallint,                                  -- the most probable class; null: several are, or no answer fits
    ADD COLUMN posterior real[],                                -- the probability of each class; null: no answer fits, or no label is declared
    ADD COLUMN log_likelihoods real[],                          -- what the posterior is made of: ln prior of each class, then what each answer added
    ADD COLUMN reason text CHECK (reason IN ('sure', 'full', 'none', 'expert', 'analysis')),
    ADD COLUMN saved int NOT NULL DEFAULT 0,                    -- answers that the task did not need
    ADD COLUMN decided_by bigint,                               -- who decided (expert, analysis), and when
    ADD COLUMN decided_at timestamptz;

-- A task whose right answer is known. number: 1 to project_ledger.n_gold.
CREATE TABLE gold_task (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    number int NOT NULL,
    answer jsonb NOT NULL,
    rule jsonb,                                                 -- how answers are compared; null: by the type of the first answer field
    message jsonb,                                              -- what the volunteer is told
    since timestamptz NOT NULL,
    user_id bigint,                                             -- who made it
    PRIMARY KEY (project_id, task_id),
    UNIQUE (project_id, number) DEFERRABLE
);
ALTER TABLE retirement DROP CONSTRAINT retirement_reason_check, ADD CONSTRAINT retirement_reason_check CHECK (reason IN ('retired', 'cancelled', 'gold'));
-- A transaction cannot use a value that it has added: no view may name it.
ALTER TYPE assignment_mode ADD VALUE 'gold';

-- The model follows the declaration (definitions/trust/52_trust_model.sql).
CREATE FUNCTION label_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public, code AS $$
BEGIN
    PERFORM follow_label(NEW.id, NEW.answer_label, NEW.trust);
    RETURN NULL;
END $$;
CREATE TRIGGER label_comes AFTER INSERT ON project FOR EACH ROW WHEN (NEW.answer_label IS NOT NULL) EXECUTE FUNCTION label_changed();
CREATE TRIGGER label_changes AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN ((OLD.answer_label, OLD.trust) IS DISTINCT FROM (NEW.answer_label, NEW.trust)) EXECUTE FUNCTION label_changed();

CREATE FUNCTION label_known() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    NEW.has_label := EXISTS (SELECT FROM trust_model WHERE project_id = NEW.project_id);
    RETURN NEW;
END $$;
CREATE TRIGGER label_is_known BEFORE INSERT ON project_ledger FOR EACH ROW EXECUTE FUNCTION label_known();

-- Projects that have a label get their model, and their answers a class, when their results are compared again.
INSERT INTO agreement_due (project_id) SELECT id FROM project WHERE answer_label IS NOT NULL
    ON CONFLICT (project_id) DO UPDATE SET after_task = 0, xact = NULL;
