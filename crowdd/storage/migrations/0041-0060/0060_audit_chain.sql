-- Rows of the audit log are chained by hashes (definitions/core/64_audit_chain.sql explains how). position is their place in the
-- chain, null until a periodic job has chained them. Each of the three groups of columns with personal data has a hash of its own
-- with a random salt, so that it can be removed: without its salt, a hash says nothing about what was there.
ALTER TABLE audit
    ADD COLUMN position bigint,
    ADD COLUMN hash bytea,
    ADD COLUMN who_salt bytea,                          -- user_id, user_name
    ADD COLUMN who_hash bytea,
    ADD COLUMN origin_salt bytea,                       -- network, request_id
    ADD COLUMN origin_hash bytea,
    ADD COLUMN values_salt bytea,                       -- before, after
    ADD COLUMN values_hash bytea,
    ADD CONSTRAINT audit_is_chained CHECK ((position IS NULL) = (hash IS NULL) AND (position IS NULL) = (who_hash IS NULL)
        AND (position IS NULL) = (origin_hash IS NULL) AND (position IS NULL) = (values_hash IS NULL));
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
