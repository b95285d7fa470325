-- Work that nobody waits for: periodic jobs, background tasks, e-mails.

-- One row for each periodic job: when it is due, and the result of its last run. A process that runs it holds an advisory
-- lock. 'running' without a lock is a run whose process has died.
CREATE TABLE job (
    name text PRIMARY KEY,
    due timestamptz NOT NULL,
    outcome text NOT NULL DEFAULT 'new' CHECK (outcome IN ('new', 'running', 'done', 'failed')),
    began timestamptz,
    seconds double precision,                           -- how long the last run took
    words text NOT NULL DEFAULT '',                     -- what it did, or why it failed
    failures int NOT NULL DEFAULT 0,                    -- in a row
    runs bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- The log of jobs: failed runs, and all runs of infrequent jobs.
CREATE TABLE job_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    began timestamptz NOT NULL,
    seconds double precision NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('done', 'failed')),
    words text NOT NULL
);
CREATE INDEX job_run_name ON job_run (name, id);
CREATE INDEX job_run_began ON job_run (began);

-- Background tasks, which must finish even if their process dies.
CREATE TABLE queue_item (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    arguments jsonb NOT NULL,
    project_id bigint,                                  -- no foreign key: the project may go while its work waits
    user_id bigint REFERENCES account ON DELETE CASCADE, -- whose it is; null: the operator's
    admin boolean NOT NULL,                             -- asked for with the rights of an administrator
    via text NOT NULL,
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'dead', 'cancelled')),
    created timestamptz NOT NULL,
    due timestamptz NOT NULL,                           -- waiting: not before; running: given up for lost after
    began timestamptz,                                  -- of the last attempt
    ended timestamptz,
    attempt int NOT NULL DEFAULT 0,                     -- counts up; a process that writes for an older one has lost the item
    failures int NOT NULL DEFAULT 0,                    -- in a row without getting any further
    cancel boolean NOT NULL DEFAULT false,
    done bigint NOT NULL DEFAULT 0,
    total bigint,
    furthest bigint NOT NULL DEFAULT 0,                 -- the most that was ever done
    done_before bigint NOT NULL DEFAULT 0,              -- when the last attempt began
    progressed timestamptz,                             -- when done was last reported
    checkpoint jsonb,                                   -- where the next attempt goes on
    result jsonb,
    error text NOT NULL DEFAULT '',
    -- Which process works on an item: the name of an advisory lock that its session holds. PostgreSQL frees it with the session,
    -- so that others see at once that the process has died. Null: only its heartbeat tells.
    worker text
) WITH (fillfactor = 70);
CREATE INDEX queue_item_due ON queue_item (due, id) WHERE state IN ('waiting', 'running');
CREATE INDEX queue_item_user ON queue_item (user_id, id);
CREATE INDEX queue_item_project ON queue_item (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX queue_item_ended ON queue_item (ended) WHERE ended IS NOT NULL;
CREATE INDEX queue_item_project_state ON queue_item (project_id, state, id) WHERE project_id IS NOT NULL;
-- Background tasks and e-mails by state; e-mails by address.
CREATE INDEX queue_item_state ON queue_item (state, id);

-- E-mails. Their texts may contain links that are as sensitive as passwords, so they are removed after sending.
CREATE TABLE mail (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    recipient text NOT NULL,
    template text NOT NULL,
    locale text NOT NULL,
    subject text NOT NULL,
    text text,
    html text,
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'held', 'sent', 'dead')), -- held: mail is off
    due timestamptz NOT NULL,
    attempts int NOT NULL DEFAULT 0,
    ended timestamptz,
    error text NOT NULL DEFAULT ''
);
CREATE INDEX mail_due ON mail (due, id) WHERE state = 'waiting';
CREATE INDEX mail_recipient ON mail (lower(recipient), created);
CREATE INDEX mail_created ON mail (created);
CREATE INDEX mail_state ON mail (state, id);
CREATE INDEX mail_to ON mail (lower(recipient), id);
CREATE INDEX mail_to_state ON mail (lower(recipient), state, id);
