-- Review: people whom owners let decide tasks, and what they think of a task before it is decided.

ALTER TABLE project ADD COLUMN reviewer_ids bigint[] NOT NULL DEFAULT '{}';    -- who may see answers and decide tasks, beside the owners
CREATE INDEX project_reviewers ON project USING gin (reviewer_ids);

-- What somebody thinks of a task of which somebody else has to say something, too. Two people who agree decide the task; where they
-- differ an owner does. result_id: the decision that became of it; null while it is open.
CREATE TABLE review_opinion (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    at timestamptz NOT NULL,
    class smallint,                                             -- null: they have only asked
    result_id bigint,
    PRIMARY KEY (project_id, task_id, user_id),
    FOREIGN KEY (project_id, task_id) REFERENCES task (project_id, id) ON DELETE CASCADE
);
CREATE INDEX review_opinion_open ON review_opinion (project_id, task_id) WHERE result_id IS NULL;
CREATE INDEX review_opinion_user ON review_opinion (user_id);
CREATE INDEX result_decided_by ON result (decided_by) WHERE decided_by IS NOT NULL;

-- The queue of tasks that an expert should look at: by reason and class, the least certain first.
CREATE INDEX result_review ON result (project_id, reason, class, coalesce(confidence, 0), task_id) WHERE last_version AND reason IS NOT NULL;
