-- Requests per client, end point and window, where several processes count together; of no worth after a crash.
CREATE UNLOGGED TABLE rate_count (
    key bytea NOT NULL,                                 -- a keyed hash: nobody can be looked up
    until timestamptz NOT NULL,                         -- the end of the window
    used bigint NOT NULL,
    PRIMARY KEY (key, until)
) WITH (fillfactor = 70);
CREATE INDEX rate_count_until ON rate_count (until);
