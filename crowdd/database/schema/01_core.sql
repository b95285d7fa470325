-- The server itself: clock, cluster, nodes, keys, counters of requests; and functions of names that several tables need.
--
-- The files of this folder make the tables of release 0.1.0, in the order of their numbers; later changes are in ../migrations. Views
-- and functions are in ../definitions, and every upgrade creates them again if they changed. Here are the functions that stored values
-- depend on (columns, defaults), and triggers with their functions: to create a trigger again locks its table.
--
-- Frequently used tables (task, task_ledger, lease, task_run, result, event, counters) have project_id in the row and in their unique
-- keys. Ids come from sequences, and no frequent statement joins two projects. Look-ups by id alone have a separate index. Times are
-- timestamptz. An actor is a volunteer as one computed text: 'u:7' (account), 'x:42' (external user of the project), 'c:9f3c…' (browser
-- with a volunteer cookie), 'i:10.1.2.3' (pseudonym of an address). A table of settings with one row has the column single (one, id).
--
-- A note on indexes: to the planner, a table that is new or was just vacuumed has next to no rows. Every index that begins with
-- project_id then looks as good as the key, and finding one row reads all rows of its project. So many indexes of task_ledger, lease,
-- task_run and result begin with another column, or with an expression, (project_id + 0) or (-project_id), that only the statements
-- which mean them can use.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- Time and transactions -----------------------------------------------------------------------------------------------

-- All code reads the time from one function (definitions/core/10_clock.sql), which adds this, so that tests can change it.
CREATE TABLE clock_shift (ahead interval NOT NULL DEFAULT '0', single boolean PRIMARY KEY DEFAULT true CHECK (single));
INSERT INTO clock_shift DEFAULT VALUES;

-- The time of day as a periodic job last saw it (record 49).
CREATE TABLE clock_seen (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    at timestamptz NOT NULL
);

-- The PostgreSQL server on which numbers of transactions were stored (pg_control_system). Another server counts them differently.
CREATE TABLE cluster (
    system_identifier bigint NOT NULL,
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    change_base bigint NOT NULL DEFAULT 0               -- added in change_stamp(); raised by 2^40 when the database has moved
);
INSERT INTO cluster SELECT system_identifier FROM pg_control_system();

CREATE FUNCTION change_base() RETURNS bigint STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT c.change_base FROM public.cluster c);
END $$;

-- The position of the changes of this transaction (record 30). In public, because it
-- is the default of columns.
CREATE FUNCTION change_stamp() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN pg_current_xact_id()::text::bigint + public.change_base();
END $$;

-- What visitors may see -----------------------------------------------------------------------------------------------

-- A number that changes with everything that decides what visitors may see. Pages that a process has made for one of them are sent
-- to others only while it is the same (crowdd/core/site.py). It is counted at the end of a transaction, behind all
-- other locks, so that its row is locked for no longer than a commit takes; and once in a transaction, however many rows that
-- changes: each further version of the row would make the next one dearer. Tables with such rows have a trigger …_exposed or …_gone. No
-- answer changes one of these tables.
CREATE TABLE exposure (version bigint NOT NULL, single boolean PRIMARY KEY DEFAULT true CHECK (single));
INSERT INTO exposure (version) VALUES (1);

CREATE FUNCTION exposure_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('crowdd.exposed_by', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        UPDATE exposure SET version = version + 1;
        PERFORM set_config('crowdd.exposed_by', pg_current_xact_id()::text, true);  -- forgotten with a savepoint that is undone
    END IF;
    RETURN NULL;
END $$;

-- Names ---------------------------------------------------------------------------------------------------------------

-- How a name looks (skeleton of Unicode Technical Standard 39, in small letters): without what is invisible, and with one character
-- for all that look like it (confusables() in 02_confusables.sql). Names of accounts, projects and categories are stored with it and
-- compared by it, so a migration that changes this function has to set all skeletons again.
CREATE FUNCTION skeleton(p_name text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql AS $$
DECLARE
    looks constant jsonb := public.confusables();
    invisible constant text := '[\u0001-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E'
        || '\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFC\U0001BCA0-\U0001BCA3\U0001D159\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]';
BEGIN
    RETURN (
        SELECT btrim(regexp_replace(normalize(coalesce(string_agg(coalesce(looks->>c, c), '' ORDER BY n), ''), NFKD), ' {2,}', ' ', 'g'), ' ')
          FROM regexp_split_to_table(normalize(regexp_replace(p_name, invisible, '', 'g'), NFKD), '') WITH ORDINALITY x (c, n)
    );
END $$;

-- Sets the skeletons of a row (triggers …_names). A skeleton that is set already stays: '' is compared with no other.
CREATE FUNCTION names_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.name_skeleton IS NULL OR (TG_OP = 'UPDATE' AND NEW.name <> OLD.name) THEN
        NEW.name_skeleton := public.skeleton(NEW.name);
    END IF;
    IF TG_TABLE_NAME <> 'account' THEN
        IF NEW.short_name_skeleton IS NULL OR (TG_OP = 'UPDATE' AND NEW.short_name <> OLD.short_name) THEN
            NEW.short_name_skeleton := public.skeleton(NEW.short_name);
        END IF;
    END IF;
    RETURN NEW;
END $$;

-- Servers -------------------------------------------------------------------------------------------------------------

-- Processes of the servers that run on this database (record 50).
CREATE TABLE node (
    id text NOT NULL,                                   -- random, of one start of a server
    worker int NOT NULL,                                -- number of the process among those of the node; 0: the only one
    name text NOT NULL,                                 -- [daemon] node
    host text NOT NULL,
    version text NOT NULL,
    newest_migration int NOT NULL,                      -- that the process knows
    fingerprint text NOT NULL,                          -- of the definitions that it was written for
    started timestamptz NOT NULL,
    seen timestamptz NOT NULL,
    draining boolean NOT NULL,
    PRIMARY KEY (id, worker)
);

-- The lines of secret.key, so that a server starts with no other key. Nothing can be derived from a fingerprint. Line 0 is the last one
-- of the file, which look-ups are made with; the highest line encrypts.
CREATE TABLE server_key (
    line int PRIMARY KEY CHECK (line >= 0),
    fingerprint bytea NOT NULL UNIQUE CHECK (length(fingerprint) = 32),
    id bytea NOT NULL CHECK (length(id) = 8),           -- public name of the line, which encrypted values begin with
    recorded timestamptz NOT NULL DEFAULT now()
);

-- Backups made by crowdctl backup, the newest fifty: crowdctl doctor looks at the age of the last one.
CREATE TABLE backup (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    snapshot_at timestamptz NOT NULL,                   -- what was committed before is in it
    finished timestamptz NOT NULL,
    bytes bigint NOT NULL
);

-- How far a sweep has come that goes through a table by id.
CREATE TABLE swept (
    name text PRIMARY KEY,
    upto bigint NOT NULL
);

-- Requests ------------------------------------------------------------------------------------------------------------

-- What a POST with an Idempotency-Key created, for a day: a repeated request gets the same response.
CREATE TABLE idempotency (
    caller text NOT NULL,
    path text NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    ids bigint[] NOT NULL DEFAULT '{}',
    created timestamptz NOT NULL,
    PRIMARY KEY (caller, path, key)
);
CREATE INDEX idempotency_created ON idempotency (created);

-- Requests per client, end point and window, where several processes count together; of no worth after a crash.
CREATE UNLOGGED TABLE rate_count (
    key bytea NOT NULL,                                 -- a keyed hash: nobody can be looked up
    until timestamptz NOT NULL,                         -- the end of the window
    used bigint NOT NULL,
    PRIMARY KEY (key, until)
) WITH (fillfactor = 70);
CREATE INDEX rate_count_until ON rate_count (until);
