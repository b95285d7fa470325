-- expands: results say how they were weighed; what was right about ended gold tasks is kept; samples of results for experts

-- How the answers of a result were weighed when it was decided (weighing_of in definitions/trust/53_posterior.sql). Null: it is older, or was
-- decided by an expert or an analysis.
ALTER TABLE result ADD COLUMN weighed_by jsonb;

-- How often the results are right of which the model says something: {method, n, right, values, shares, loss, raw_loss, at}, by a random sample that
-- experts decided. Null: too few were.
ALTER TABLE trust_model ADD COLUMN recalibration jsonb;

-- A task that was a gold task: what was right about it.
CREATE TABLE ended_gold (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    answer jsonb NOT NULL,                              -- array of the values that are right
    rule jsonb,
    since timestamptz NOT NULL,
    ended timestamptz NOT NULL,
    PRIMARY KEY (project_id, task_id),
    FOREIGN KEY (project_id, task_id) REFERENCES task (project_id, id) ON DELETE CASCADE
);

-- Results that were drawn at random, for experts to decide without seeing them (definitions/review/57_samples.sql).
CREATE TABLE sampled_result (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    result_id bigint NOT NULL,                          -- what is judged: its class and confidence when it was drawn
    generation int NOT NULL,                            -- of the model; of another one: it says nothing any more
    class smallint NOT NULL,
    confidence real NOT NULL,
    drawn timestamptz NOT NULL,
    number int NOT NULL,                                -- the order in which they are decided, at random
    decided smallint,                                   -- the class that the expert says; null: not yet
    decided_by bigint REFERENCES account ON DELETE SET NULL,
    decided_at timestamptz,
    PRIMARY KEY (project_id, task_id),
    FOREIGN KEY (project_id, task_id) REFERENCES task (project_id, id) ON DELETE CASCADE
);
CREATE INDEX sampled_result_open ON sampled_result (project_id, number) WHERE decided IS NULL;
CREATE INDEX sampled_result_by ON sampled_result (decided_by) WHERE decided_by IS NOT NULL;
