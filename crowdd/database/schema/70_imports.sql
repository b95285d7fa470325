-- Tasks that come from elsewhere: imports of files and addresses, keys by which rows find their task again, batches of media.

-- An uploaded file: previewed first, then imported by a background task. The file itself is in the data folder.
CREATE TABLE task_import (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    user_id bigint,
    created timestamptz NOT NULL,
    name text NOT NULL,                                 -- of the file, or where it came from
    format text NOT NULL,
    file text NOT NULL,
    bytes bigint NOT NULL,
    rows bigint NOT NULL,
    columns jsonb NOT NULL,                             -- their names, in order
    sample jsonb NOT NULL,                              -- the first rows
    uses jsonb,                                         -- what each column becomes; null: not chosen yet
    again boolean NOT NULL DEFAULT false,               -- rows that are tasks already are taken once more
    queue_item bigint,
    added bigint NOT NULL DEFAULT 0,
    present bigint NOT NULL DEFAULT 0,                  -- rows that were tasks already
    refused bigint NOT NULL DEFAULT 0,
    ended timestamptz,
    dialect jsonb,                                      -- how the file is read; null: as it looks
    kind text NOT NULL DEFAULT '',                      -- table, tasks (an export of tasks), answers (one of task runs); '': unread
    doubts jsonb NOT NULL DEFAULT '[]',                 -- what the owner is asked about the file
    key_name text,                                      -- the column by which tasks are found again
    n_answers int,                                      -- of tasks whose row says nothing about it
    on_error text CHECK (on_error IN ('skip', 'stop')), -- what becomes of the rest when rows are refused; null: unsaid
    auto boolean NOT NULL DEFAULT false,                -- begins when it has been read, if nothing has to be decided
    check_item bigint,                                  -- the work that reads it
    check_error text NOT NULL DEFAULT '',               -- why it cannot be used
    checked jsonb,                                      -- the choices that the preview was made with
    preview jsonb,                                      -- what would become of the rows
    blank bigint NOT NULL DEFAULT 0,                    -- rows without any content: left out
    updated bigint NOT NULL DEFAULT 0,                  -- tasks found by their key and changed
    twice bigint NOT NULL DEFAULT 0,                    -- of present: rows that stand in the file before
    kept bigint NOT NULL DEFAULT 0,                     -- of present: changed rows whose task is left as it is, being answered
    sheets jsonb NOT NULL DEFAULT '[]',                 -- of a workbook: name, hidden, chosen each
    roles jsonb NOT NULL DEFAULT '{}',                  -- what columns are for (info.column_roles), written to the project when it begins
    source_id bigint,                                   -- the source that it was read from
    keep_columns boolean NOT NULL DEFAULT false         -- with a key: tasks keep the columns that the file does not have
);
CREATE INDEX task_import_project ON task_import (project_id, id);
CREATE INDEX task_import_source ON task_import (source_id, id) WHERE source_id IS NOT NULL;

-- Refused rows, as many as are kept for each import.
CREATE TABLE import_error (
    import_id bigint NOT NULL REFERENCES task_import ON DELETE CASCADE,
    line bigint NOT NULL,
    reason text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (import_id, line)
);

-- Addresses that are imported again and again.
CREATE TABLE import_source (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    user_id bigint NOT NULL,                            -- in whose name it is read
    created timestamptz NOT NULL,
    url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
    period int NOT NULL CHECK (period IN (3600, 86400, 604800)), -- seconds
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

-- Tasks by the value of a key of their info, for keys that an owner has chosen at an import.
CREATE TABLE task_key (
    project_id bigint NOT NULL,
    name text NOT NULL,                                 -- the key of info
    key text NOT NULL,                                  -- its value
    task_id bigint NOT NULL,
    seen bigint NOT NULL DEFAULT 0,                     -- the last import whose file had it
    PRIMARY KEY (project_id, name, key)
) WITH (fillfactor = 80);
CREATE INDEX task_key_task ON task_key (project_id, task_id);
-- Which are gone from a file. Without the name: beside the primary key, an index that begins with both columns would look as
-- good to a planner that has no statistics yet, and it is read for each row of a file.
CREATE INDEX task_key_seen ON task_key (project_id, seen);

-- Up to which task the values of a key are known.
CREATE TABLE task_key_name (
    project_id bigint NOT NULL,
    name text NOT NULL,
    upto bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, name)
);

-- A key follows when the info of its task is changed; where another task has the new value, the task has none.
CREATE FUNCTION follow_task_keys() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE names text[];
BEGIN
    WITH gone AS (
        DELETE FROM task_key WHERE project_id = NEW.project_id AND task_id = NEW.id AND key IS DISTINCT FROM NEW.info->>name RETURNING name)
    SELECT array_agg(name) INTO names FROM gone;
    INSERT INTO task_key (project_id, name, key, task_id)
    SELECT NEW.project_id, n, NEW.info->>n, NEW.id FROM unnest(names) n WHERE length(NEW.info->>n) BETWEEN 1 AND 500
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER keys_follow AFTER UPDATE OF info ON task FOR EACH ROW WHEN (OLD.info IS DISTINCT FROM NEW.info)
  EXECUTE FUNCTION follow_task_keys();

-- Tasks that came with an export: by the project and the id they had.
CREATE TABLE task_origin (
    project_id bigint NOT NULL,
    source bigint NOT NULL,
    original bigint NOT NULL,
    task_id bigint NOT NULL,
    PRIMARY KEY (project_id, original, source)          -- in this order for the planner (01_core.sql)
);
CREATE INDEX task_origin_task ON task_origin (project_id, task_id, source);

-- Media that owners bring from their computers: a batch of files, each of which (or each group of which) becomes a task.
CREATE TABLE media_batch (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    user_id bigint,                                     -- who brings it; no reference, so that accounts can go
    created timestamptz NOT NULL,
    grouping text NOT NULL CHECK (grouping IN ('file', 'name')), -- one task for each file, or for files that belong together by name
    column_name text NOT NULL CHECK (length(column_name) <= 100), -- of the tasks, that files fill; '': by the questions
    keep_location boolean NOT NULL,                     -- where pictures were taken
    keep_original boolean NOT NULL,                     -- pictures in full size
    n_answers int NOT NULL CHECK (n_answers BETWEEN 1 AND 1000),
    closed timestamptz,                                 -- from when on no further file is taken
    queue_item bigint,                                  -- the background task that prepares its files
    n_files int NOT NULL DEFAULT 0,                     -- all of its rows below
    open_files int NOT NULL DEFAULT 0,                  -- of these are arriving or waiting
    open_bytes bigint NOT NULL DEFAULT 0
);
CREATE INDEX media_batch_newest ON media_batch (project_id, id);
CREATE INDEX media_batch_open ON media_batch (id) WHERE open_files > 0;

-- Files, the members of archives, and the pages of documents. While a file is arriving or waiting, its bytes are in the data
-- folder (media/<id>); afterwards what was made of it is in the media store.
CREATE TABLE media_file (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_id bigint NOT NULL REFERENCES media_batch ON DELETE CASCADE,
    project_id bigint NOT NULL,
    created timestamptz NOT NULL,
    parent_id bigint REFERENCES media_file ON DELETE CASCADE, -- the archive or the document that it comes from
    page int NOT NULL DEFAULT 0,                        -- of a document, from 1
    path text NOT NULL CHECK (length(path) BETWEEN 1 AND 500), -- with its folders, as the owner's computer has it
    key text NOT NULL CHECK (length(key) BETWEEN 1 AND 200), -- what tells the files of a batch apart: the client's word
    bytes bigint NOT NULL CHECK (bytes >= 0),
    state text NOT NULL CHECK (state IN ('arriving', 'waiting', 'prepared', 'split', 'added', 'present', 'refused')),
    expires timestamptz CHECK ((expires IS NULL) = (state <> 'arriving')),
    reason jsonb,                                       -- of a refusal: a sentence with its values
    digest bytea,                                       -- SHA-256 of the content that came, for a page with its number
    prepared jsonb,                                     -- what was made of it, and where that is in the media store
    task_id bigint                                      -- of an added or present file
);
CREATE UNIQUE INDEX media_file_key ON media_file (batch_id, key);
CREATE INDEX media_file_state ON media_file (batch_id, state, id);
CREATE INDEX media_file_parent ON media_file (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX media_file_digest ON media_file (project_id, digest) WHERE digest IS NOT NULL;
CREATE INDEX media_file_expires ON media_file (expires) WHERE expires IS NOT NULL;

-- Keeps the counters of batches, once for each statement: row by row, the same row of media_batch would be updated for each file. A
-- transaction that changes a file and its batch locks the batch first.
CREATE FUNCTION count_media() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE media_batch b SET n_files = n_files + c.files, open_files = open_files + c.open, open_bytes = open_bytes + c.size
          FROM (SELECT batch_id, count(*) AS files, count(*) FILTER (WHERE state IN ('arriving', 'waiting')) AS open,
                       coalesce(sum(bytes) FILTER (WHERE state IN ('arriving', 'waiting')), 0) AS size FROM came GROUP BY 1) c
         WHERE b.id = c.batch_id;
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE media_batch b SET n_files = n_files - c.files, open_files = open_files - c.open, open_bytes = open_bytes - c.size
          FROM (SELECT batch_id, count(*) AS files, count(*) FILTER (WHERE state IN ('arriving', 'waiting')) AS open,
                       coalesce(sum(bytes) FILTER (WHERE state IN ('arriving', 'waiting')), 0) AS size FROM gone GROUP BY 1) c
         WHERE b.id = c.batch_id;
    ELSE
        UPDATE media_batch b SET open_files = open_files + c.open, open_bytes = open_bytes + c.size
          FROM (SELECT batch_id, sum(one) AS open, sum(bytes) AS size
                  FROM (SELECT batch_id, 1 AS one, bytes FROM came WHERE state IN ('arriving', 'waiting') UNION ALL
                        SELECT batch_id, -1, -bytes FROM gone WHERE state IN ('arriving', 'waiting')) each
                 GROUP BY 1 HAVING sum(one) <> 0 OR sum(bytes) <> 0) c
         WHERE b.id = c.batch_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER media_comes AFTER INSERT ON media_file REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_media();
CREATE TRIGGER media_goes AFTER DELETE ON media_file REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_media();
CREATE TRIGGER media_changes AFTER UPDATE ON media_file REFERENCING OLD TABLE AS gone NEW TABLE AS came FOR EACH STATEMENT
    EXECUTE FUNCTION count_media();
