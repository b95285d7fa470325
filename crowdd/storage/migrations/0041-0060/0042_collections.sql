-- Collections: tasks that a person grouped under a name, each with a note.

CREATE TABLE collection (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    created timestamptz NOT NULL,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    description text NOT NULL CHECK (length(description) <= 1000),
    published boolean NOT NULL DEFAULT false                    -- everybody who has the address sees it
);
CREATE UNIQUE INDEX collection_name ON collection (user_id, name);

CREATE TABLE collection_item (
    collection_id bigint NOT NULL REFERENCES collection ON DELETE CASCADE,
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    created timestamptz NOT NULL,
    note text NOT NULL CHECK (length(note) <= 500),
    PRIMARY KEY (collection_id, task_id)
);
CREATE INDEX collection_item_newest ON collection_item (collection_id, id);
CREATE INDEX collection_item_task ON collection_item (project_id, task_id);
