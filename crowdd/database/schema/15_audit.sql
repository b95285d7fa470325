-- What happened to accounts and projects: the audit log of administrators and owners, the security log of sign-ins and refusals.

-- Every act of administrators and owners; append-only. Rows are chained by hashes (definitions/core/64_audit_chain.sql explains how). Each
-- of the three groups of columns with personal data has a hash of its own with a random salt, so that it can be removed: without its
-- salt, a hash says nothing about what was there.
CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL,
    user_id bigint,
    user_name text NOT NULL,                            -- as it was then
    via text NOT NULL CHECK (via IN ('api', 'web', 'cli', 'job')),
    action text NOT NULL,
    kind text NOT NULL,
    object_id bigint,
    project_id bigint,
    attribute text,
    before jsonb,
    after jsonb,
    network text NOT NULL DEFAULT '',                   -- pseudonym of where the request came from
    request_id text NOT NULL DEFAULT '',
    position bigint,                                    -- place in the chain; null until a periodic job has chained the row
    hash bytea,
    who_salt bytea,                                     -- user_id, user_name
    who_hash bytea,
    origin_salt bytea,                                  -- network, request_id
    origin_hash bytea,
    values_salt bytea,                                  -- before, after
    values_hash bytea,
    CONSTRAINT audit_is_chained CHECK ((position IS NULL) = (hash IS NULL) AND (position IS NULL) = (who_hash IS NULL)
        AND (position IS NULL) = (origin_hash IS NULL) AND (position IS NULL) = (values_hash IS NULL))
);
CREATE INDEX audit_project ON audit (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX audit_user ON audit (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_kind ON audit (kind, id);
-- Filters of the page: by the name of a person, alone or with what was changed; of a project by a person.
CREATE INDEX audit_user_name ON audit (user_name, id);
CREATE INDEX audit_user_kind ON audit (user_name, kind, id);
CREATE INDEX audit_project_user ON audit (project_id, user_name, id) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX audit_position ON audit (position);
CREATE INDEX audit_unchained ON audit (id) WHERE position IS NULL;

-- Where the chain begins and ends: the position and the hash before its first row, and those of its last row.
CREATE TABLE audit_chain (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    begin_position bigint NOT NULL DEFAULT 0,
    begin_hash bytea NOT NULL DEFAULT '',
    position bigint NOT NULL DEFAULT 0,
    hash bytea NOT NULL DEFAULT ''
);
INSERT INTO audit_chain DEFAULT VALUES;

-- Sign-ins, refusals and changes of accounts: written by domain.core.security_log, removed after [log] security_days.
CREATE TABLE security_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bucket timestamptz,                                 -- the hour in which equal entries share this row; null: a row of its own
    at timestamptz NOT NULL,                            -- of the first
    last_at timestamptz NOT NULL,                       -- of the last
    count bigint NOT NULL DEFAULT 1,
    kind text NOT NULL,                                 -- one of domain.core.security_log.KINDS
    user_id bigint,                                     -- the account that it is about
    actor_id bigint,                                    -- the account that did it, where that is another one
    tried text NOT NULL DEFAULT '',                     -- keyed hash of what was typed where there is no such account
    network text NOT NULL,                              -- pseudonym; empty on the command line, and for what exceeds the bounds
    request_id text NOT NULL DEFAULT '',                -- of the first
    agent text NOT NULL DEFAULT '',                     -- of the first, cut
    detail text NOT NULL DEFAULT ''
) WITH (fillfactor = 90);
CREATE UNIQUE INDEX security_log_same ON security_log (bucket, kind, network, user_id, actor_id, tried, detail)
    NULLS NOT DISTINCT WHERE bucket IS NOT NULL;
CREATE INDEX security_log_age ON security_log (at);
CREATE INDEX security_log_user ON security_log (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX security_log_actor ON security_log (actor_id, id) WHERE actor_id IS NOT NULL;
CREATE INDEX security_log_tried ON security_log (tried, id) WHERE tried <> '';
CREATE INDEX security_log_kind ON security_log (kind, id);
CREATE INDEX security_log_user_kind ON security_log (user_id, kind, id) WHERE user_id IS NOT NULL;
CREATE INDEX security_log_actor_kind ON security_log (actor_id, kind, id) WHERE actor_id IS NOT NULL;
CREATE INDEX security_log_tried_kind ON security_log (tried, kind, id) WHERE tried <> '';

-- Networks from which an API key or token was used, at most a hundred for each key.
CREATE TABLE key_network (
    key_hash bytea NOT NULL,                            -- what the key is looked up by
    network text NOT NULL,                              -- pseudonym
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    first_seen timestamptz NOT NULL,
    last_seen timestamptz NOT NULL,                     -- to the day
    PRIMARY KEY (key_hash, network)
);
CREATE INDEX key_network_user ON key_network (user_id);
CREATE INDEX key_network_age ON key_network (last_seen);
