-- expands: deposits of snapshots in a repository with the REST API of Zenodo, one for each
CREATE TABLE deposit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    snapshot_id bigint NOT NULL UNIQUE REFERENCES snapshot ON DELETE CASCADE,
    created timestamptz NOT NULL,
    user_id bigint REFERENCES account ON DELETE SET NULL,       -- whose token it is; null: the operator, or a deleted account
    item_id bigint,                                             -- the item of the queue that works on it
    url text NOT NULL,                                          -- of the repository
    token_encrypted bytea,                                      -- null once it is published
    publish boolean NOT NULL,                                   -- it is to be published when all files are there
    remote_id text,                                             -- in the repository; null until it is created there
    page text NOT NULL DEFAULT '',                              -- for people
    uploaded timestamptz,                                       -- all files are there
    published timestamptz,
    doi text NOT NULL DEFAULT ''
);
CREATE INDEX deposit_of_user ON deposit (user_id) WHERE user_id IS NOT NULL;
