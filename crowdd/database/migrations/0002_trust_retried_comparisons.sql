-- expands: comparisons that fail are tried again, and say why they failed

-- A failed comparison is tried again from retry_at on; null: only when its owner asks for it.
ALTER TABLE comparison_due ADD COLUMN tries smallint NOT NULL DEFAULT 0, ADD COLUMN retry_at timestamptz;
CREATE INDEX comparison_due_failed ON comparison_due (project_id, retry_at) WHERE failure IS NOT NULL;
UPDATE comparison_due SET retry_at = now() WHERE failure IS NOT NULL;

-- Why the expected disagreement of a field could not be measured. The row keeps what was measured before; answers 0: nothing was.
ALTER TABLE alpha_expected ADD COLUMN failure text, ADD COLUMN tries smallint NOT NULL DEFAULT 0, ADD COLUMN retry_at timestamptz;

-- Projects whose sums of alpha have changed since their expected disagreements were looked at, or where one that failed is tried again.
CREATE TABLE alpha_due (
    project_id bigint PRIMARY KEY,                      -- without a reference, which would lock the project behind its tasks
    due timestamptz NOT NULL
) WITH (fillfactor = 50);

-- A failure could not be told from answers that are all the same.
UPDATE alpha_expected SET answers = 0 WHERE expected IS NULL;
INSERT INTO alpha_due (project_id, due) SELECT DISTINCT project_id, now() FROM alpha_sum;

-- Choices, numbers and marks are compared in another way: all results are compared again in the background.
INSERT INTO agreement_due (project_id) SELECT id FROM project WHERE answer_fields IS NOT NULL
    ON CONFLICT (project_id) DO UPDATE SET after_task = 0, xact = NULL;

-- Answers to gold tasks that could not be compared. changed_xid: of the answer; another one is compared as if it were new.
CREATE TABLE gold_failure (
    project_id bigint NOT NULL,
    run bigint NOT NULL,
    changed_xid bigint NOT NULL,
    failure text NOT NULL,
    tries smallint NOT NULL,
    retry_at timestamptz,
    PRIMARY KEY (project_id, run),
    FOREIGN KEY (project_id, run) REFERENCES task_run (project_id, id) ON DELETE CASCADE
);
