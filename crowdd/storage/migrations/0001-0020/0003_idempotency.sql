-- What a POST with an Idempotency-Key created, for a day: a repeated request gets the same response.

CREATE TABLE idempotency (
    caller text NOT NULL,
    path text NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    ids bigint[] NOT NULL DEFAULT '{}',
    created timestamptz NOT NULL,
    PRIMARY KEY (caller, path, key)
);
CREATE INDEX idempotency_created ON idempotency (created);
