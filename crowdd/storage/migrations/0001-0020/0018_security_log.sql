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
CREATE INDEX security_log_actor ON security_log (actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX security_log_tried ON security_log (tried, id) WHERE tried <> '';
CREATE INDEX security_log_kind ON security_log (kind, id);

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

-- Where each act came from.
ALTER TABLE audit ADD COLUMN network text NOT NULL DEFAULT '', ADD COLUMN request_id text NOT NULL DEFAULT '';
