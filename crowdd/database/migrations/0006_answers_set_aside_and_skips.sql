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
