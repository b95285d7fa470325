-- expands: chains, in which what comes out of one project becomes the tasks of the next

-- Two projects that follow each other: what becomes of a complete task of the one in the other.
CREATE TABLE chain_link (
    next_project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,   -- a step is made of one step only
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    rule jsonb NOT NULL,                                -- crowdd/kinds/chains.py
    created timestamptz NOT NULL,
    -- Changes of the first project are followed up to here (changed_xid), and of those of the next transaction up to this task.
    position bigint NOT NULL DEFAULT -1,
    position_task bigint NOT NULL DEFAULT 0,
    failure text,                                       -- why it does not go on, such as a full account
    retry_at timestamptz,                               -- when that is tried again
    CHECK (project_id <> next_project_id)
);
CREATE INDEX chain_link_project ON chain_link (project_id, next_project_id);

-- What was last made of a complete task.
CREATE TABLE chain_source (
    source_task_id bigint NOT NULL,
    project_id bigint NOT NULL,                         -- the next one
    result_id bigint,                                   -- what it was made of; null: its task was deleted
    parts text[],                                       -- the tasks that there are to be; null: what it needs is still to be compared, or too long to be kept
    PRIMARY KEY (source_task_id, project_id)
);
CREATE INDEX chain_source_project ON chain_source ((project_id + 0), source_task_id);

-- Where tasks of the next step come from.
CREATE TABLE task_source (
    source_task_id bigint NOT NULL,
    project_id bigint NOT NULL,                         -- the one that the task belongs to
    part text NOT NULL,                                 -- of the source task, such as a line; '' for all of it
    task_id bigint,                                     -- null: an owner has deleted it, and it does not come back
    place jsonb,                                        -- x, y, width, height of the part, by which it is found again
    digest uuid NOT NULL,                               -- of the info that it was made with
    result_id bigint,                                   -- of which it was made
    changed boolean NOT NULL DEFAULT false,             -- its source says something else by now, or is gone
    PRIMARY KEY (source_task_id, project_id, part)
);
CREATE UNIQUE INDEX task_source_task ON task_source (task_id, project_id);
CREATE INDEX task_source_project ON task_source ((project_id + 0), source_task_id);
CREATE INDEX task_source_changed ON task_source ((project_id + 0), source_task_id) WHERE changed;
