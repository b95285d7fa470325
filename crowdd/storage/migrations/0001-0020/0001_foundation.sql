-- Tables. Views and functions are in ../definitions, and every upgrade recreates them if they changed.
--
-- Frequently used tables (task, ledger, lease, run, result, event, counters) have project_id in the row and in their
-- unique keys. Ids come from sequences, and no frequent statement joins two projects. Lookups by id alone have a
-- separate index. Times are timestamptz. A volunteer is one computed text: 'u:7' (account), 'x:42' (external user of
-- the project), 'c:9f3c…' (browser with a volunteer cookie), 'i:10.1.2.3' (pseudonym of an address).

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- All code reads the time from one function (definitions/10_clock.sql), which adds this, so that tests can change it.
-- One row.
CREATE TABLE clock_shift (ahead interval NOT NULL DEFAULT '0', single boolean PRIMARY KEY DEFAULT true CHECK (single));
INSERT INTO clock_shift DEFAULT VALUES;

-- People ---------------------------------------------------------------------------------------------------------------

CREATE TABLE account (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    name text NOT NULL,
    fullname text NOT NULL,
    email_addr text NOT NULL,
    passwd_hash text,                                   -- argon2id; null: signs in with a provider only
    api_key_hash bytea NOT NULL UNIQUE,                 -- keyed hash: what a key is looked up by
    api_key_sealed bytea NOT NULL,                      -- encrypted with the server's secret: its owner may see it again
    admin boolean NOT NULL DEFAULT false,
    pro boolean NOT NULL DEFAULT false,
    "restrict" boolean NOT NULL DEFAULT false,          -- blocked: cannot sign in, shown nowhere
    privacy_mode boolean NOT NULL DEFAULT true,
    subscribed boolean NOT NULL DEFAULT false,
    newsletter_prompted boolean NOT NULL DEFAULT false,
    valid_email boolean NOT NULL DEFAULT false,
    confirmation_email_sent boolean NOT NULL DEFAULT false,
    consent boolean NOT NULL DEFAULT false,
    locale text NOT NULL DEFAULT 'en',
    flags bigint,
    category bigint,
    catalog_api text,
    google_user_id text UNIQUE,
    github_user_id text UNIQUE,
    orcid_user_id text UNIQUE,
    info jsonb NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX account_name ON account (lower(name));
CREATE UNIQUE INDEX account_email_addr ON account (lower(email_addr));

CREATE TABLE session (
    token_hash bytea PRIMARY KEY,                       -- the token itself is only in its owner's cookie
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    created timestamptz NOT NULL,
    last_seen timestamptz NOT NULL,
    expires timestamptz NOT NULL,
    agent text NOT NULL DEFAULT '',
    address text NOT NULL DEFAULT ''                    -- pseudonym
);
CREATE INDEX session_of_user ON session (user_id);
CREATE INDEX session_expires ON session (expires);

-- Links that work once: the first administrator, e-mail confirmation and password reset.
CREATE TABLE one_time_link (
    token_hash bytea PRIMARY KEY,
    purpose text NOT NULL,
    user_id bigint REFERENCES account ON DELETE CASCADE,
    data jsonb NOT NULL DEFAULT '{}',
    created timestamptz NOT NULL,
    expires timestamptz NOT NULL
);

-- Failed attempts to enter passwords, per subject. Old rows are removed.
CREATE TABLE attempt (
    subject text NOT NULL,
    at timestamptz NOT NULL
);
CREATE INDEX attempt_subject ON attempt (subject, at);
CREATE INDEX attempt_at ON attempt (at);

-- Every act of administrators and owners; append-only.
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
    after jsonb
);
CREATE INDEX audit_project ON audit (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX audit_user ON audit (user_id, id) WHERE user_id IS NOT NULL;

-- Projects -------------------------------------------------------------------------------------------------------------

CREATE TABLE category (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    name text NOT NULL,
    short_name text NOT NULL,
    description text NOT NULL DEFAULT '',
    info jsonb NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX category_name ON category (lower(name));
CREATE UNIQUE INDEX category_short_name ON category (short_name);
INSERT INTO category (created, name, short_name, description) VALUES
    (now(), 'Thinking', 'thinking', 'Read, compare, decide: tasks for the mind'),
    (now(), 'Volunteer Sensing', 'sensing', 'Look, listen, measure: tasks for the senses');

CREATE TABLE project (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    updated timestamptz NOT NULL,
    name text NOT NULL,
    short_name text NOT NULL,
    description text NOT NULL DEFAULT '',
    long_description text NOT NULL DEFAULT '',
    webhook text,
    allow_anonymous_contributors boolean NOT NULL DEFAULT true,
    published boolean NOT NULL DEFAULT false,
    first_published timestamptz,                        -- null: a draft; with published false: paused
    featured boolean NOT NULL DEFAULT false,
    contacted boolean NOT NULL DEFAULT false,
    zip_download boolean NOT NULL DEFAULT true,
    secret_key_sealed bytea NOT NULL,
    owner_id bigint NOT NULL REFERENCES account,
    owners_ids bigint[] NOT NULL,                       -- the owner and the co-owners
    category_id bigint NOT NULL REFERENCES category,
    passwd_hash text,
    lock_id text,                                       -- changes with the password: what a password cookie proves
    info jsonb NOT NULL DEFAULT '{}',
    CHECK (owner_id = ANY (owners_ids)),
    CHECK ((passwd_hash IS NULL) = (lock_id IS NULL)),
    CHECK (first_published IS NOT NULL OR NOT published)
);
CREATE UNIQUE INDEX project_name ON project (lower(name));
CREATE UNIQUE INDEX project_short_name ON project (short_name);
CREATE INDEX project_owners ON project USING gin (owners_ids);
CREATE INDEX project_category ON project (category_id, id);
CREATE INDEX project_featured ON project (id) WHERE featured;

-- What assignment needs of a project, beside the wide row. One import at a time holds this row.
CREATE TABLE project_ledger (
    project_id bigint PRIMARY KEY REFERENCES project,
    sched text NOT NULL DEFAULT 'default',
    lease interval NOT NULL DEFAULT '1 hour',
    preload interval NOT NULL DEFAULT '10 minutes',
    trial boolean NOT NULL DEFAULT true,                -- never published: runs are trials, events are not emitted
    paused boolean NOT NULL DEFAULT false,              -- no new leases
    members_only boolean NOT NULL DEFAULT false,        -- no anonymous volunteers
    lock_id text,                                       -- as in project
    n_ordinals bigint NOT NULL DEFAULT 0,               -- dense numbers of its tasks, for random
    max_rank double precision NOT NULL DEFAULT '-infinity',     -- the end of the default order
    epoch int NOT NULL DEFAULT 0,                       -- raised by mass changes of the order: positions start anew
    xid_base bigint NOT NULL DEFAULT 0                  -- added to transaction ids; raised after a dump and restore
) WITH (fillfactor = 50);

-- Tasks ----------------------------------------------------------------------------------------------------------------

CREATE TABLE task (
    id bigint GENERATED BY DEFAULT AS IDENTITY,
    project_id bigint NOT NULL,
    created timestamptz NOT NULL,
    info jsonb NOT NULL,
    quorum bigint NOT NULL DEFAULT 0,
    calibration bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, id)
);
CREATE INDEX task_id ON task (id);

-- The narrow side of a task: a lease or an answer must not rewrite the wide row. Who changes anything about a task holds
-- this row first. ``open`` is stored, because an index whose predicate names answers and leases would make every lease a
-- non-HOT update.
CREATE TABLE task_ledger (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    ordinal bigint NOT NULL,
    n_answers int NOT NULL,
    answers int NOT NULL DEFAULT 0,                     -- counted runs
    leases int NOT NULL DEFAULT 0,                      -- rows of lease
    extra int NOT NULL DEFAULT 0,                       -- late runs: stored, not counted
    mode "char" NOT NULL DEFAULT 'n',                   -- n: n places; a: everybody; b: n places by level; i: one at a time
    done boolean NOT NULL DEFAULT false,
    retired boolean NOT NULL DEFAULT false,             -- taken out by the owner: no new leases
    priority_0 double precision NOT NULL DEFAULT 0,
    rank double precision NOT NULL GENERATED ALWAYS AS (-priority_0) STORED,
    entered bigint,                                     -- transaction that last brought it back, or to its level
    open boolean NOT NULL GENERATED ALWAYS AS (NOT retired AND CASE mode
        WHEN 'a' THEN true
        WHEN 'i' THEN leases = 0 AND answers < n_answers
        ELSE answers + leases < n_answers END) STORED,
    level int GENERATED ALWAYS AS (CASE mode WHEN 'b' THEN answers + leases END) STORED,
    PRIMARY KEY (project_id, task_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX ledger_ordinal ON task_ledger (project_id, ordinal);
CREATE INDEX ledger_priority ON task_ledger (project_id, rank, task_id) WHERE open;
CREATE INDEX ledger_id ON task_ledger (project_id, task_id) WHERE open;
CREATE INDEX ledger_returns ON task_ledger (project_id, entered, task_id) WHERE open AND entered IS NOT NULL;
CREATE INDEX ledger_level ON task_ledger (project_id, level, entered, task_id) WHERE open AND mode = 'b';

-- A row holds a place, also when expired, until somebody takes it back.
CREATE TABLE lease (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    task_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    granted timestamptz NOT NULL,
    expires timestamptz NOT NULL,
    PRIMARY KEY (project_id, actor, task_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lease_expires ON lease (project_id, expires);

-- The right to answer late; holds no place.
CREATE TABLE past_lease (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    task_id bigint NOT NULL,
    granted timestamptz NOT NULL,
    expires timestamptz NOT NULL,
    skipped boolean NOT NULL,
    PRIMARY KEY (project_id, actor, task_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX past_lease_skipped ON past_lease (project_id, actor, expires) WHERE skipped;
CREATE INDEX past_lease_expires ON past_lease (expires);

-- How far a volunteer has come on a lane; actor '' is the floor (definitions/assignment.sql).
CREATE TABLE position (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    lane text NOT NULL,
    k1 double precision NOT NULL,
    k2 bigint NOT NULL,
    PRIMARY KEY (project_id, actor, lane)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- No foreign keys: the lock on the ledger row says that the task exists.
CREATE TABLE task_run (
    id bigint GENERATED ALWAYS AS IDENTITY,
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    actor text NOT NULL,
    user_id bigint,
    user_ip text,
    external_uid text,
    created timestamptz NOT NULL,                       -- when the task was handed out
    finish_time timestamptz NOT NULL,
    counted boolean NOT NULL,
    trial boolean NOT NULL DEFAULT false,
    timeout double precision,                           -- seconds after the end of the lease
    calibration bigint,
    media_url text,
    info jsonb NOT NULL,
    PRIMARY KEY (project_id, id),
    CONSTRAINT one_run_per_person UNIQUE (project_id, task_id, actor)
);
CREATE INDEX task_run_id ON task_run (id);
CREATE INDEX task_run_user ON task_run (user_id, id) WHERE user_id IS NOT NULL;

CREATE TABLE result (
    id bigint GENERATED ALWAYS AS IDENTITY,
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    created timestamptz NOT NULL,
    version int NOT NULL,
    last_version boolean NOT NULL,
    task_run_ids bigint[] NOT NULL,
    info jsonb,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, task_id, version)
);
CREATE INDEX result_id ON result (id);

-- What happened, written by the transaction in which it happened; numbered per project after its commit.
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
);
CREATE INDEX event_unnumbered ON event (project_id, id) WHERE seq IS NULL;
CREATE UNIQUE INDEX event_seq ON event (project_id, seq) WHERE seq IS NOT NULL;

CREATE TABLE favourite (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    created timestamptz NOT NULL,
    PRIMARY KEY (project_id, task_id, user_id)
);
CREATE INDEX favourite_user ON favourite (user_id, task_id);

-- Counters -------------------------------------------------------------------------------------------------------------

-- Appended by the transaction that changes something and folded by a job; readers add both, so every figure is true at
-- once and no row is fought over. No index: it holds what came since the last fold.
CREATE TABLE stat_delta (
    project_id bigint NOT NULL,
    hour timestamptz NOT NULL,
    actor text NOT NULL DEFAULT '',                     -- '' where nobody answered (tasks added, completion undone)
    user_id bigint,                                     -- whose score counts it; null for trials
    runs int NOT NULL DEFAULT 0,
    counted int NOT NULL DEFAULT 0,
    completed int NOT NULL DEFAULT 0,
    tasks int NOT NULL DEFAULT 0,
    wanted bigint NOT NULL DEFAULT 0,                   -- sum of n_answers
    seconds double precision NOT NULL DEFAULT 0         -- from handing out to answer
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE project_stat (
    project_id bigint PRIMARY KEY,
    tasks bigint NOT NULL DEFAULT 0,
    wanted bigint NOT NULL DEFAULT 0,
    counted bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    runs_anonymous bigint NOT NULL DEFAULT 0,
    runs_authenticated bigint NOT NULL DEFAULT 0,
    people_anonymous bigint NOT NULL DEFAULT 0,
    people_authenticated bigint NOT NULL DEFAULT 0,
    seconds double precision NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE project_hour (
    project_id bigint NOT NULL,
    hour timestamptz NOT NULL,
    runs_anonymous bigint NOT NULL DEFAULT 0,
    runs_authenticated bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, hour)
) WITH (fillfactor = 70);

CREATE TABLE volunteer (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    runs bigint NOT NULL DEFAULT 0,
    seconds double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, actor)
) WITH (fillfactor = 70);
CREATE INDEX volunteer_actor ON volunteer (actor);

CREATE TABLE person_stat (
    user_id bigint PRIMARY KEY,
    runs bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX person_stat_runs ON person_stat (runs DESC, user_id);
