-- Which task of a project already has this info: an import looks up each of its rows.
CREATE INDEX task_digest ON task (project_id, (md5(info::text)::uuid));

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
    uses jsonb,                                         -- what each column becomes; null: nobody has said yet
    again boolean NOT NULL DEFAULT false,               -- rows that are tasks already are taken once more
    queue_item bigint,
    added bigint NOT NULL DEFAULT 0,
    present bigint NOT NULL DEFAULT 0,                  -- rows that were tasks already
    refused bigint NOT NULL DEFAULT 0,
    ended timestamptz
);
CREATE INDEX task_import_project ON task_import (project_id, id);

-- Refused rows, as many as are kept for each import.
CREATE TABLE import_error (
    import_id bigint NOT NULL REFERENCES task_import ON DELETE CASCADE,
    line bigint NOT NULL,
    reason text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (import_id, line)
);
