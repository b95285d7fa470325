-- Counters: appended by the transaction that changes something, folded by a job (definitions/projects/50_statistics.sql). Readers add both,
-- so every figure is true at once and no two transactions wait for one row.

-- What came since the last fold. A row with project 0 is about a person only: they signed up, were blocked, or lost the answers of a
-- deleted project. Seconds are numeric everywhere, so that sums do not depend on the order.
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
    seconds numeric NOT NULL DEFAULT 0,                 -- from handing out to answer, at most to the end of the lease
    results int NOT NULL DEFAULT 0,                     -- last results that their owner has filled
    xact bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    bytes bigint NOT NULL DEFAULT 0,                    -- of texts and JSON as text, and of uploaded files
    outcomes int,                                       -- last results more or fewer; null: none changed
    consensus_hash bigint,                              -- what they say together, as in result
    n_compared int,
    agreement real,
    field smallint,                                     -- number of the answer field; null: the first
    value jsonb                                         -- what won, of a further field and if it is short
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX stat_delta_project ON stat_delta (project_id, xact, actor);
CREATE INDEX stat_delta_xact ON stat_delta (xact);

-- Every row of an earlier transaction is folded, so readers start here. Folded rows that are still visible to an old
-- snapshot (a dump, a long export) cannot be removed, and without this every reader would read them again.
CREATE TABLE stat_floor (xact bigint NOT NULL, single boolean PRIMARY KEY DEFAULT true CHECK (single));
INSERT INTO stat_floor (xact) VALUES (0);

-- Folded figures of a project.
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
    seconds numeric NOT NULL DEFAULT 0,
    results bigint NOT NULL DEFAULT 0,
    recent_anonymous bigint NOT NULL DEFAULT 0,         -- volunteers with answers in volunteer_day
    recent_authenticated bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0                     -- of texts and JSON as text, and of uploaded files
) WITH (fillfactor = 50);

-- Folded figures of a project by hour.
CREATE TABLE project_hour (
    project_id bigint NOT NULL,
    hour timestamptz NOT NULL,
    runs_anonymous bigint NOT NULL DEFAULT 0,
    runs_authenticated bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    counted bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, hour)
) WITH (fillfactor = 70);
CREATE INDEX project_hour_hour ON project_hour (hour);

-- Folded figures of a volunteer in a project.
CREATE TABLE volunteer (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    runs bigint NOT NULL DEFAULT 0,
    seconds numeric NOT NULL DEFAULT 0,
    recent bigint NOT NULL DEFAULT 0,                   -- sum of volunteer_day
    PRIMARY KEY (project_id, actor)
) WITH (fillfactor = 70);
CREATE INDEX volunteer_actor ON volunteer (actor);
CREATE INDEX volunteer_top ON volunteer (project_id, (actor LIKE 'u:%'), runs DESC, actor) WHERE runs > 0;
CREATE INDEX volunteer_recent ON volunteer (project_id, (actor LIKE 'u:%'), recent DESC, actor) WHERE recent > 0;

-- Answers of the last two weeks. The folding job removes earlier days and subtracts them from volunteer.recent; until then readers
-- leave them out.
CREATE TABLE volunteer_day (
    project_id bigint NOT NULL,
    day date NOT NULL,
    actor text NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (project_id, day, actor)
) WITH (fillfactor = 70);
CREATE INDEX volunteer_day_day ON volunteer_day (day);

-- The score of an account, from its first folded change on: its answers in projects of others.
CREATE TABLE person_stat (
    user_id bigint PRIMARY KEY,
    runs bigint NOT NULL DEFAULT 0,
    shown boolean NOT NULL DEFAULT false                -- false: blocked
) WITH (fillfactor = 70);
CREATE INDEX person_stat_runs ON person_stat (runs DESC, user_id) WHERE shown AND runs > 0;

-- How many people are shown with a score, in levels: a bucket of level n holds 64 ^ n scores. The number of people with
-- a higher score is the sum of at most 63 rows of each level.
CREATE TABLE score_count (
    level int NOT NULL,
    bucket bigint NOT NULL,
    people bigint NOT NULL,
    PRIMARY KEY (level, bucket)
) WITH (fillfactor = 50);

-- Changes that many statements make are noted by the tables themselves ------------------------------------------------

-- Results that their owner has filled: the last ones with an info.
CREATE FUNCTION count_result() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO stat_delta (project_id, hour, results) VALUES (OLD.project_id, date_trunc('hour', OLD.created), -1);
    ELSE
        INSERT INTO stat_delta (project_id, hour, results)
        VALUES (NEW.project_id, date_trunc('hour', NEW.created), CASE WHEN NEW.last_version AND NEW.info <> 'null' THEN 1 ELSE -1 END);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER result_is_filled AFTER INSERT ON result FOR EACH ROW
  WHEN (NEW.last_version AND NEW.info <> 'null') EXECUTE FUNCTION count_result();
CREATE TRIGGER result_changes AFTER UPDATE ON result FOR EACH ROW
  WHEN ((coalesce(OLD.info <> 'null', false) AND OLD.last_version) <> (coalesce(NEW.info <> 'null', false) AND NEW.last_version)) EXECUTE FUNCTION count_result();
CREATE TRIGGER result_goes AFTER DELETE ON result FOR EACH ROW
  WHEN (OLD.last_version AND OLD.info <> 'null') EXECUTE FUNCTION count_result();

-- A person signs up, is blocked, is let in again or goes: readers and the next fold look at their row.
CREATE FUNCTION note_people() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, user_id) SELECT 0, 'epoch', id FROM newcomer;
    RETURN NULL;
END $$;
CREATE FUNCTION note_person() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, user_id) VALUES (0, 'epoch', OLD.id);
    RETURN NULL;
END $$;
CREATE TRIGGER account_comes AFTER INSERT ON account REFERENCING NEW TABLE AS newcomer FOR EACH STATEMENT EXECUTE FUNCTION note_people();
CREATE TRIGGER account_is_blocked AFTER UPDATE OF "restrict" ON account FOR EACH ROW
  WHEN (OLD."restrict" <> NEW."restrict") EXECUTE FUNCTION note_person();
CREATE TRIGGER account_goes AFTER DELETE ON account FOR EACH ROW EXECUTE FUNCTION note_person();

-- Bytes: what a statement adds or takes away, or what a row has become. Arguments: the size of a row, the column with its project. Whether
-- the project is still there is looked up once for each project. Rows of one that is just being deleted are left out: its counters go
-- with it.
CREATE FUNCTION count_bytes() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE more bigint; project bigint;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        EXECUTE format('SELECT n.size - o.size, n.id FROM (SELECT %1$s AS size, %2$I AS id FROM (SELECT ($1).*) x) n, (SELECT %1$s AS size FROM (SELECT ($2).*) x) o',
                       TG_ARGV[0], TG_ARGV[1]) INTO more, project USING NEW, OLD;
        INSERT INTO stat_delta (project_id, hour, bytes) SELECT project, 'epoch', more WHERE more <> 0;
    ELSE
        EXECUTE format('INSERT INTO stat_delta (project_id, hour, bytes) SELECT c.id, ''epoch'', %3$s * c.size'
                       ' FROM (SELECT %2$I AS id, sum(%1$s) AS size FROM changed GROUP BY 1) c'
                       ' WHERE c.size <> 0 AND (%4$L = ''project'' OR EXISTS (SELECT FROM project_ledger l WHERE l.project_id = c.id))',
                       TG_ARGV[0], TG_ARGV[1], CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END, TG_TABLE_NAME);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER bytes_come AFTER INSERT ON project REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(info::text) + octet_length(long_description)', 'id');

CREATE TRIGGER bytes_change AFTER UPDATE OF info, long_description ON project FOR EACH ROW
  WHEN (OLD.info <> NEW.info OR OLD.long_description <> NEW.long_description)
  EXECUTE FUNCTION count_bytes('octet_length(info::text) + octet_length(long_description)', 'id');

CREATE TRIGGER bytes_come AFTER INSERT ON task REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('coalesce(octet_length(info::text), 0)', 'project_id');
CREATE TRIGGER bytes_change AFTER UPDATE OF info ON task FOR EACH ROW WHEN (OLD.info IS DISTINCT FROM NEW.info)
  EXECUTE FUNCTION count_bytes('coalesce(octet_length(info::text), 0)', 'project_id');
CREATE TRIGGER bytes_go AFTER DELETE ON task REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('coalesce(octet_length(info::text), 0)', 'project_id');

-- What an answer adds is appended by submit() with its other counters.
CREATE TRIGGER bytes_change AFTER UPDATE OF info ON task_run FOR EACH ROW WHEN (OLD.info IS DISTINCT FROM NEW.info)
  EXECUTE FUNCTION count_bytes('coalesce(octet_length(info::text), 0)', 'project_id');
CREATE TRIGGER bytes_go AFTER DELETE ON task_run REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('coalesce(octet_length(info::text), 0)', 'project_id');

-- A result comes without info; its owner fills it.
CREATE TRIGGER bytes_change AFTER UPDATE OF info ON result FOR EACH ROW WHEN (OLD.info IS DISTINCT FROM NEW.info)
  EXECUTE FUNCTION count_bytes('coalesce(octet_length(info::text), 0)', 'project_id');
CREATE TRIGGER bytes_go AFTER DELETE ON result REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('coalesce(octet_length(info::text), 0)', 'project_id');

CREATE TRIGGER bytes_come AFTER INSERT ON blogpost REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(info::text) + octet_length(body)', 'project_id');
CREATE TRIGGER bytes_change AFTER UPDATE OF info, body ON blogpost FOR EACH ROW WHEN (OLD.info <> NEW.info OR OLD.body <> NEW.body)
  EXECUTE FUNCTION count_bytes('octet_length(info::text) + octet_length(body)', 'project_id');
CREATE TRIGGER bytes_go AFTER DELETE ON blogpost REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(info::text) + octet_length(body)', 'project_id');

CREATE TRIGGER bytes_come AFTER INSERT ON helpingmaterial REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(info::text)', 'project_id');
CREATE TRIGGER bytes_change AFTER UPDATE OF info ON helpingmaterial FOR EACH ROW WHEN (OLD.info <> NEW.info)
  EXECUTE FUNCTION count_bytes('octet_length(info::text)', 'project_id');
CREATE TRIGGER bytes_go AFTER DELETE ON helpingmaterial REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(info::text)', 'project_id');

CREATE TRIGGER bytes_come AFTER INSERT ON upload_file REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('bytes', 'project_id');
CREATE TRIGGER bytes_change AFTER UPDATE OF bytes ON upload_file FOR EACH ROW WHEN (OLD.bytes <> NEW.bytes)
  EXECUTE FUNCTION count_bytes('bytes', 'project_id');
CREATE TRIGGER bytes_go AFTER DELETE ON upload_file REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('bytes', 'project_id');
