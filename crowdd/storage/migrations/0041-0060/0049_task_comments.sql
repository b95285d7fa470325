-- Comments on tasks: what volunteers write to the owners of a project. Only owners read them.

CREATE TABLE task_comment (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    user_id bigint REFERENCES account ON DELETE CASCADE,        -- null: without an account
    actor text NOT NULL,
    created timestamptz NOT NULL,
    kind text NOT NULL CHECK (kind IN ('problem', 'question', 'remark')),
    text text NOT NULL CHECK (length(text) BETWEEN 1 AND 1000),
    settled boolean NOT NULL DEFAULT false
);
CREATE INDEX task_comment_listed ON task_comment (project_id, settled, id);
CREATE INDEX task_comment_task ON task_comment (project_id, task_id, id);
CREATE INDEX task_comment_actor ON task_comment (project_id, actor, created);
CREATE INDEX task_comment_user ON task_comment (user_id, id) WHERE user_id IS NOT NULL;
