-- Snapshots of projects: files that never change, found by the hash of their content; their deposits, and who withdrew from them.

-- A snapshot, or the request for one.
CREATE TABLE snapshot (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    created timestamptz NOT NULL,                       -- when it was asked for
    user_id bigint REFERENCES account ON DELETE SET NULL, -- who asked; null: the schedule or the operator
    item_id bigint,                                     -- the item of the queue that makes it
    error text NOT NULL DEFAULT '',
    public boolean NOT NULL DEFAULT false,              -- others than owners may read it where they may read answers
    -- Null until it is made.
    hash text CHECK (hash ~ '^[0-9a-f]{64}$'),
    as_of timestamptz,                                  -- the moment that it shows
    complete boolean,                                   -- it has answers to complete tasks only
    hidden_columns jsonb,                               -- of tasks, when it was made
    manifest jsonb,
    UNIQUE (project_id, hash)
);
CREATE INDEX snapshot_of_project ON snapshot (project_id, id);
CREATE INDEX snapshot_of_user ON snapshot (user_id) WHERE user_id IS NOT NULL;

-- Their files, in the media store under keys made of the SHA-256 of their content. Snapshots with an equal file share it.
CREATE TABLE snapshot_file (
    snapshot_id bigint NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    name text NOT NULL,
    key text NOT NULL,
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    crc32 bigint NOT NULL,
    content boolean NOT NULL,
    PRIMARY KEY (snapshot_id, name)
);
CREATE INDEX snapshot_file_key ON snapshot_file (key);

-- Snapshots that are made regularly.
CREATE TABLE snapshot_schedule (
    project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,
    every text NOT NULL CHECK (every IN ('week', 'month')),
    due timestamptz NOT NULL,
    user_id bigint REFERENCES account ON DELETE SET NULL
);
CREATE INDEX snapshot_schedule_due ON snapshot_schedule (due);

-- The deposit of a snapshot in a repository with the REST API of Zenodo, one for each.
CREATE TABLE deposit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    snapshot_id bigint NOT NULL UNIQUE REFERENCES snapshot ON DELETE CASCADE,
    created timestamptz NOT NULL,
    user_id bigint REFERENCES account ON DELETE SET NULL, -- whose token it is; null: the operator, or a deleted account
    item_id bigint,                                     -- the item of the queue that works on it
    url text NOT NULL,                                  -- of the repository
    token_encrypted bytea,                              -- null once it is published
    publish boolean NOT NULL,                           -- it is to be published when all files are there
    remote_id text,                                     -- in the repository; null until it is created there
    page text NOT NULL DEFAULT '',                      -- for people
    uploaded timestamptz,                               -- all files are there
    published timestamptz,
    doi text NOT NULL DEFAULT ''
);
CREATE INDEX deposit_of_user ON deposit (user_id) WHERE user_id IS NOT NULL;

-- Codes of volunteers who deleted their account. Later snapshots do not have the code, earlier ones are marked.
CREATE TABLE withdrawn_volunteer (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    word text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (project_id, word)
);
