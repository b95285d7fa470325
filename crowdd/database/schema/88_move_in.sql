-- Moving in from PyBossa: which database the rows came from, and how far each table is.

-- The move; one row.
CREATE TABLE move_in (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    source text NOT NULL,                               -- what names the database: system identifier and oid
    began timestamptz NOT NULL,
    ended timestamptz                                   -- null: it can be resumed
);

-- One for each table of PyBossa, and for each pass over one. Rows are read in the order of their ids.
CREATE TABLE move_in_step (
    name text PRIMARY KEY,
    upto bigint NOT NULL DEFAULT 0,                     -- the last id that was read
    read bigint NOT NULL DEFAULT 0,                     -- read = added + refused
    added bigint NOT NULL DEFAULT 0,
    refused bigint NOT NULL DEFAULT 0,
    remarks jsonb NOT NULL DEFAULT '{}',                -- {sentence: {"rows": number, "refused": boolean, "first": [ids]}}
    ended boolean NOT NULL DEFAULT false
);
