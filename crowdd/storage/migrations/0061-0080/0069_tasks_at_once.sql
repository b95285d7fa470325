-- expands: what triggers do for each new task costs less (docs/decisions/0219-write-a-batch-of-tasks-in-one-statement.md)

-- A statement that adds many tasks says itself what the columns are (insert_tasks in definitions/tasks/40_changes.sql).
CREATE OR REPLACE TRIGGER ledger_columns BEFORE UPDATE OF n_answers, answers, leases, mode, retired, priority_0 ON task_ledger
  FOR EACH ROW EXECUTE FUNCTION set_ledger_columns();
CREATE TRIGGER ledger_columns_come BEFORE INSERT ON task_ledger
  FOR EACH ROW WHEN (NEW.rank IS NULL OR NEW.open IS NULL) EXECUTE FUNCTION set_ledger_columns();

-- As in migration 24, but whether its project is still there is looked up once for each project, not for each row.
CREATE OR REPLACE FUNCTION count_bytes() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
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
