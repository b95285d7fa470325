-- Columns of tasks that are hidden from volunteers, and sources of imports that are read again.

-- The names of hidden columns (info.column_roles), beside the wide column that holds the presenter; null: none.
ALTER TABLE project
    ADD hidden_columns jsonb GENERATED ALWAYS AS (
        nullif(jsonb_path_query_array(info, '$.column_roles.keyvalue() ? (@.value == "hidden").key', '{}', true), '[]')) STORED;

ALTER TABLE task_import
    ADD roles jsonb NOT NULL DEFAULT '{}',              -- what columns are for (info.column_roles), written to the project when it begins
    ADD source_id bigint;                               -- the source that it was read from
CREATE INDEX task_import_source ON task_import (source_id, id) WHERE source_id IS NOT NULL;

-- Addresses that are imported again and again.
CREATE TABLE import_source (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    user_id bigint NOT NULL,                            -- in whose name it is read
    created timestamptz NOT NULL,
    url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
    period int NOT NULL CHECK (period IN (3600, 86400, 604800)),    -- seconds
    choices jsonb NOT NULL,                             -- how its file is read, and what its columns become: as in task_import
    active boolean NOT NULL DEFAULT true,
    why_off text NOT NULL DEFAULT '' CHECK (length(why_off) <= 500), -- '': its owner paused it
    next_at timestamptz NOT NULL,
    queue_item bigint,                                  -- the work that reads it
    read_at timestamptz,
    outcome text NOT NULL DEFAULT '' CHECK (outcome IN ('', 'read', 'unchanged', 'failed')),
    problem text NOT NULL DEFAULT '' CHECK (length(problem) <= 500),
    failures int NOT NULL DEFAULT 0,                    -- in a row
    etag text NOT NULL DEFAULT '',
    last_modified text NOT NULL DEFAULT '',
    digest text NOT NULL DEFAULT ''                     -- SHA-256 of the file that was imported last
);
CREATE UNIQUE INDEX import_source_url ON import_source (project_id, url);
CREATE INDEX import_source_due ON import_source (next_at) WHERE active;
