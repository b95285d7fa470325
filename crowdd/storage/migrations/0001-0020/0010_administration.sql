-- What administrators look up.

-- People by a part of their names or address.
CREATE INDEX account_search ON account USING gin ((name || ' ' || fullname || ' ' || email_addr) gin_trgm_ops);
CREATE INDEX account_admin ON account (id) WHERE admin;
CREATE INDEX account_created ON account (created);

-- Tasks come in the order of time, so that a few pages tell which are new.
CREATE INDEX task_created ON task USING brin (created);

CREATE INDEX audit_kind ON audit (kind, id);

-- The last computed statistics of the dashboard, which are too expensive to compute for each page.
CREATE TABLE dashboard (
    made timestamptz NOT NULL,
    figures jsonb NOT NULL,
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
