-- Trust in answers: what is known of volunteers, gold tasks, reviews (definitions/trust/52_trust_model.sql, docs/projects/trust.md).

-- Numbers the models of all projects: what was learned under one says nothing under another.
CREATE SEQUENCE trust_generation AS int;

-- One row for each project whose first answer field is a label. Numbers of classes begin with 1. A table of numbers by answer and
-- truth has that of answer l and truth j at (l - 1) * k + j. Sums of probabilities are whole multiples of 2^-20, so that they stay exact.
CREATE TABLE trust_model (
    project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,
    generation int NOT NULL,                            -- another one when the label changes: what was learned before no longer counts
    path text[] NOT NULL,                               -- where the label stands in answers
    choices jsonb[] NOT NULL,
    fixed boolean NOT NULL,                             -- false: choices are those that have appeared, at most 50
    k smallint NOT NULL CHECK (k BETWEEN 2 AND 50),     -- classes
    confused boolean NOT NULL,                          -- whether it is known who confuses which classes (k <= 10 and fixed)
    min_answers int,                                    -- adaptive redundancy; null: off
    confidence real,
    prior real[] NOT NULL,                              -- published by the fold: ln of the smoothed class frequencies
    newcomer real[] NOT NULL,                           -- reliability.log_likelihoods of volunteers without a row
    accuracy real NOT NULL DEFAULT 0.75,                -- mean of the project
    guarded boolean NOT NULL DEFAULT false,             -- volunteers agree hardly more than by chance: they teach nothing about each other
    tasks bigint NOT NULL DEFAULT 0,                    -- sums of evidence: completed tasks,
    class_sums float8[] NOT NULL DEFAULT '{}',          -- how probable each class was in them,
    confusion_sums float8[] NOT NULL DEFAULT '{}',      -- by answer and truth (k <= 10 and fixed),
    gold_right float8 NOT NULL DEFAULT 0,
    gold_seen float8 NOT NULL DEFAULT 0,
    peer_right float8 NOT NULL DEFAULT 0,
    peer_seen float8 NOT NULL DEFAULT 0,
    saved bigint NOT NULL DEFAULT 0,                    -- answers that completed tasks did not need
    sure bigint NOT NULL DEFAULT 0,                     -- completed tasks by reason
    "full" bigint NOT NULL DEFAULT 0,
    "none" bigint NOT NULL DEFAULT 0,
    published_tasks bigint NOT NULL DEFAULT 0,          -- tasks when all volunteers were worked out last
    published_upto text                                 -- the last of them that is done; null: all are
) WITH (fillfactor = 50);

-- The model follows the declaration (definitions/trust/52_trust_model.sql).
CREATE FUNCTION label_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public, code AS $$
BEGIN
    PERFORM follow_label(NEW.id, NEW.answer_label, NEW.trust);
    RETURN NULL;
END $$;
CREATE TRIGGER label_comes AFTER INSERT ON project FOR EACH ROW WHEN (NEW.answer_label IS NOT NULL) EXECUTE FUNCTION label_changed();
CREATE TRIGGER label_changes AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN ((OLD.answer_label, OLD.trust) IS DISTINCT FROM (NEW.answer_label, NEW.trust)) EXECUTE FUNCTION label_changed();

-- A ledger that comes after the model says that there is one.
CREATE FUNCTION label_known() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    NEW.has_label := EXISTS (SELECT FROM trust_model WHERE project_id = NEW.project_id);
    RETURN NEW;
END $$;
CREATE TRIGGER label_is_known BEFORE INSERT ON project_ledger FOR EACH ROW EXECUTE FUNCTION label_known();

-- What is known of a volunteer in a project.
CREATE TABLE reliability (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    generation int NOT NULL DEFAULT 0,                  -- of the model, 0 without one; of another one: nothing is known yet
    gold_right float8 NOT NULL DEFAULT 0,
    gold_seen float8 NOT NULL DEFAULT 0,
    peer_right float8 NOT NULL DEFAULT 0,               -- in completed tasks: how probable their answers were
    peer_seen float8 NOT NULL DEFAULT 0,                -- in completed tasks: how probable their answers were
    halved int NOT NULL DEFAULT 0,                      -- how often these four and confusions were halved
    gold_given int NOT NULL DEFAULT 0,                  -- gold tasks answered; never halved
    confusions float8[],                                -- by answer and truth; null where the model has none
    accuracy real,                                      -- worked out by the fold: estimate,
    log_likelihoods real[],                             -- ln P(answer | truth) by both, or one: ln(a (k - 1) / (1 - a)),
    known boolean NOT NULL DEFAULT false,               -- enough is known: their answers have a whole vote in any network,
    counts boolean NOT NULL DEFAULT true,               -- false: no better than chance; their answers do not count
    lifted boolean NOT NULL DEFAULT false,              -- the owner has them count nevertheless
    PRIMARY KEY (project_id, actor)
) WITH (fillfactor = 70);

-- What answers teach about volunteers: appended by the transaction that completes a task, folded into trust_model and reliability,
-- and deleted. sign -1 takes back what was appended before. gold: one volunteer's answer to a gold task; posterior is then 1 for
-- the right class; where the answer is no label, classes and posterior are null.
CREATE TABLE evidence (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    generation int NOT NULL DEFAULT 0,                  -- of the model, 0 without one
    sign smallint NOT NULL CHECK (sign IN (1, -1)),
    gold boolean NOT NULL DEFAULT false,
    actors text[] NOT NULL,
    classes smallint[],
    posterior real[],
    is_right boolean,                                   -- of gold
    reason text,                                        -- of a completed task: why it was complete
    saved int NOT NULL DEFAULT 0                        -- answers that it did not need
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX evidence_project ON evidence (project_id);

-- A task whose right answer is known (definitions/gold/33_gold.sql). number: 1 to project_ledger.n_gold.
CREATE TABLE gold_task (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    number int NOT NULL,
    answer jsonb NOT NULL,                              -- array of the values that are right
    rule jsonb,                                         -- how answers are compared; null: by the type of the first answer field
    message jsonb,                                      -- what the volunteer is told
    since timestamptz NOT NULL,
    user_id bigint,                                     -- who made it
    generation int NOT NULL DEFAULT 0,                  -- of the model under which its answers were compared, 0 without one
    n_seen int NOT NULL DEFAULT 0,                      -- answers that were compared,
    n_right int NOT NULL DEFAULT 0,                     -- and how many of them were right
    PRIMARY KEY (project_id, task_id),
    UNIQUE (project_id, number) DEFERRABLE
);

-- What a reviewer thinks of a task that a second one has to look at, too. Two people who agree decide the task; where they differ an
-- owner does.
CREATE TABLE review_opinion (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    at timestamptz NOT NULL,
    class smallint,                                     -- null: they have only asked
    result_id bigint,                                   -- the decision that became of it; null while it is open
    PRIMARY KEY (project_id, task_id, user_id),
    FOREIGN KEY (project_id, task_id) REFERENCES task (project_id, id) ON DELETE CASCADE
);
CREATE INDEX review_opinion_open ON review_opinion (project_id, task_id) WHERE result_id IS NULL;
CREATE INDEX review_opinion_user ON review_opinion (user_id);
