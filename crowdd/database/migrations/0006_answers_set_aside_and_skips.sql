-- expands: owners set answers aside one by one, with a reason; tasks that many people skip are set aside for review

-- An answer that an owner set aside alone (task_run.aside -1), and why.
CREATE TABLE aside_answer (
    project_id bigint NOT NULL,
    run bigint NOT NULL,
    reason text NOT NULL,
    user_id bigint REFERENCES account ON DELETE SET NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (project_id, run),
    FOREIGN KEY (project_id, run) REFERENCES task_run (project_id, id) ON DELETE CASCADE
);
CREATE INDEX aside_answer_user ON aside_answer (user_id) WHERE user_id IS NOT NULL;

-- Skips without a reason count, too; a task that many skip is set aside for review (info.skip_limit of its project).
ALTER TABLE task_skip DROP CONSTRAINT task_skip_reason_check, ADD CONSTRAINT task_skip_reason_check CHECK (reason IN ('broken', 'unsure', 'disturbing', 'none'));
ALTER TABLE retirement DROP CONSTRAINT retirement_reason_check, ADD CONSTRAINT retirement_reason_check CHECK (reason IN ('retired', 'cancelled', 'gold', 'skipped'));
