-- What the projects of an account hold: bytes as a further counter of projects, appended and folded like the others.

ALTER TABLE stat_delta ADD bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE project_stat ADD bytes bigint NOT NULL DEFAULT 0;  -- of texts and JSON as text, and of uploaded files
CREATE INDEX project_owner ON project (owner_id);

-- Files that projects brought. Those from before this table are added by the job that looks for orphans.
CREATE TABLE upload_file (
    path text PRIMARY KEY,                                      -- <container>/<name>
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    bytes bigint NOT NULL
);
CREATE INDEX upload_file_project ON upload_file (project_id);

-- Appends what a statement adds or takes away, or what a row has become. Arguments: the size of a row, the column with its
-- project. Rows of a project that is just being deleted are left out: its counters go with it.
CREATE FUNCTION count_bytes() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE more bigint; project bigint;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        EXECUTE format('SELECT n.size - o.size, n.id FROM (SELECT %1$s AS size, %2$I AS id FROM (SELECT ($1).*) x) n, (SELECT %1$s AS size FROM (SELECT ($2).*) x) o',
                       TG_ARGV[0], TG_ARGV[1]) INTO more, project USING NEW, OLD;
        INSERT INTO stat_delta (project_id, hour, bytes) SELECT project, 'epoch', more WHERE more <> 0;
    ELSE
        EXECUTE format('INSERT INTO stat_delta (project_id, hour, bytes) SELECT %2$I, ''epoch'', %3$s * sum(%1$s) FROM changed'
                       ' WHERE %4$L = ''project'' OR EXISTS (SELECT FROM project_ledger l WHERE l.project_id = changed.%2$I) GROUP BY 1 HAVING sum(%1$s) <> 0',
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

-- What is there already.
INSERT INTO project_stat AS s (project_id, bytes)
SELECT project_id, sum(bytes) FROM (
    SELECT id AS project_id, octet_length(info::text) + octet_length(long_description) AS bytes FROM project
    UNION ALL SELECT project_id, octet_length(info::text) FROM task
    UNION ALL SELECT project_id, octet_length(info::text) FROM task_run
    UNION ALL SELECT project_id, octet_length(info::text) FROM result
    UNION ALL SELECT project_id, octet_length(info::text) + octet_length(body) FROM blogpost
    UNION ALL SELECT project_id, octet_length(info::text) FROM helpingmaterial) b
 WHERE bytes IS NOT NULL AND project_id IN (SELECT project_id FROM project_ledger) GROUP BY 1
    ON CONFLICT (project_id) DO UPDATE SET bytes = excluded.bytes;
