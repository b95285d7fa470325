-- What volunteers do beside answering: favourites, collections, comments.

-- Tasks that people marked.
CREATE TABLE favourite (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    created timestamptz NOT NULL,
    PRIMARY KEY (project_id, task_id, user_id)
);
CREATE INDEX favourite_user ON favourite (user_id, task_id);

-- Collections: tasks that a person grouped under a name.
CREATE TABLE collection (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    created timestamptz NOT NULL,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    description text NOT NULL CHECK (length(description) <= 1000),
    published boolean NOT NULL DEFAULT false            -- everybody who has the address sees it
);
CREATE UNIQUE INDEX collection_name ON collection (user_id, name);

-- A task of a collection, with a note.
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

-- Comments on tasks: what volunteers write to the owners of a project. Only owners read them.
CREATE TABLE task_comment (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    user_id bigint REFERENCES account ON DELETE CASCADE, -- null: without an account
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
