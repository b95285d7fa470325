-- Why tasks were skipped: how often for which reason, not by whom. At most one row for each task and reason.
CREATE TABLE task_skip (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    reason text NOT NULL CHECK (reason IN ('broken', 'unsure', 'disturbing')),
    n bigint NOT NULL,
    PRIMARY KEY (project_id, task_id, reason)
);
