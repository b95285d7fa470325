-- expands: a table of the servers that run on this database
-- (docs/decisions/0213-hold-a-lock-for-each-running-node.md)

CREATE TABLE node (
    id text NOT NULL,                           -- random, of one start of a server
    worker int NOT NULL,                        -- number of the process among those of the node; 0: the only one
    name text NOT NULL,                         -- [daemon] node
    host text NOT NULL,
    version text NOT NULL,
    newest_migration int NOT NULL,              -- that the process knows
    fingerprint text NOT NULL,                  -- of the definitions that it was written for
    started timestamptz NOT NULL,
    seen timestamptz NOT NULL,
    draining boolean NOT NULL,
    PRIMARY KEY (id, worker)
);
