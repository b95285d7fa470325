-- Events of projects, and their delivery to webhooks.

-- What happened, written by the transaction in which it happened; numbered per project after its commit. Rows are written twice, as they
-- happen and as they get their number.
CREATE TABLE event (
    project_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    seq bigint,
    kind text NOT NULL,
    task_id bigint,
    result_id bigint,
    at timestamptz NOT NULL,
    data jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (project_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX event_unnumbered ON event (project_id, id) WHERE seq IS NULL;
CREATE UNIQUE INDEX event_seq ON event (project_id, seq) WHERE seq IS NOT NULL;

-- How far a project's events are numbered. Only number_events writes it, under the advisory lock of the project's events.
CREATE TABLE event_sequence (
    project_id bigint PRIMARY KEY,
    last_seq bigint NOT NULL DEFAULT 0,
    complete boolean NOT NULL DEFAULT false             -- at the last look; a completion is one event
) WITH (fillfactor = 50);

-- A project that ever had an address (project.webhook).
CREATE TABLE webhook (
    project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,
    secret_encrypted bytea NOT NULL,
    old_secret_encrypted bytea,                         -- signs beside the new one for a while
    old_secret_until timestamptz,
    active boolean NOT NULL DEFAULT true,
    why_off text NOT NULL DEFAULT '',
    last_seq bigint NOT NULL DEFAULT 0,                 -- events up to here have their delivery, but for those of the gap
    gap_from bigint,                                    -- after the one, up to the other: while there was no address
    gap_to bigint,                                      -- after the one, up to the other: while there was no address
    replay_from bigint,                                 -- the same of events that are sent once more, as far as not yet fed
    replay_to bigint,                                   -- the same of events that are sent once more, as far as not yet fed
    replay_missing boolean NOT NULL DEFAULT false,      -- only those that have no delivery
    failures int NOT NULL DEFAULT 0,                    -- in a row, each begun after the one before had ended
    failed_at timestamptz,
    next_at timestamptz                                 -- while it fails: nothing before
) WITH (fillfactor = 70);
-- The administrators' list, those in trouble first.
CREATE INDEX webhook_trouble ON webhook ((NOT active) DESC, failures DESC, project_id DESC);

-- One event that is being delivered, or a test (without event). At most a few hundred of a project wait at once;
-- further rows are created from events as deliveries succeed.
CREATE TABLE delivery (
    project_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    event_id bigint,
    seq bigint,
    kind text NOT NULL,
    task_id bigint,
    created timestamptz NOT NULL,
    again boolean NOT NULL DEFAULT false,               -- its owner asked for it once more
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts int NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL,
    finished timestamptz,
    PRIMARY KEY (project_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE UNIQUE INDEX delivery_event ON delivery (project_id, event_id);
CREATE INDEX delivery_due ON delivery (project_id, next_at, id) WHERE state = 'waiting';
CREATE INDEX delivery_order ON delivery (project_id, task_id, seq) WHERE state = 'waiting';
CREATE INDEX delivery_finished ON delivery (finished) WHERE finished IS NOT NULL;
CREATE INDEX delivery_state ON delivery (project_id, state, id);

-- Each request and its response.
CREATE TABLE delivery_attempt (
    project_id bigint NOT NULL,
    delivery_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL,
    url text NOT NULL,
    body text NOT NULL,
    status int,                                         -- null: there was no answer
    answer text NOT NULL DEFAULT '',                    -- its head and the beginning of its body
    problem text NOT NULL DEFAULT '',                   -- why it did not count as delivered, in a sentence
    seconds double precision NOT NULL,
    PRIMARY KEY (project_id, delivery_id, id),
    FOREIGN KEY (project_id, delivery_id) REFERENCES delivery ON DELETE CASCADE
);
