-- What changed after a cursor (docs/decisions/0196-follow-changes-by-their-transactions.md).

-- Added to numbers of transactions in change_stamp(); raised by 2^40 when the database has moved to another PostgreSQL.
ALTER TABLE cluster ADD COLUMN change_base bigint NOT NULL DEFAULT 0;

CREATE FUNCTION change_base() RETURNS bigint STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT c.change_base FROM public.cluster c);
END $$;

-- The position of the changes of this transaction. In public, because it is the default of columns.
CREATE FUNCTION change_stamp() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN pg_current_xact_id()::text::bigint + public.change_base();
END $$;

-- The transaction that last changed what is shown of a row. 0: before there were positions.
ALTER TABLE task_run ADD COLUMN changed_xid bigint NOT NULL DEFAULT 0;
ALTER TABLE result ADD COLUMN changed_xid bigint NOT NULL DEFAULT 0;
ALTER TABLE task_ledger ADD COLUMN changed_xid bigint NOT NULL DEFAULT 0;      -- of the task; statements that change it name it
ALTER TABLE task_run ALTER COLUMN changed_xid SET DEFAULT public.change_stamp();
ALTER TABLE result ALTER COLUMN changed_xid SET DEFAULT public.change_stamp();
ALTER TABLE task_ledger ALTER COLUMN changed_xid SET DEFAULT public.change_stamp();
-- The transaction in which a result made its task complete. Noted here, a completion leaves the row of the ledger in its page.
ALTER TABLE result ADD COLUMN completed_xid bigint NOT NULL DEFAULT 0;
-- None begins with project_id: see migrations 4 and 62.
CREATE INDEX task_run_changed ON task_run ((project_id + 0), changed_xid, id);
CREATE INDEX result_changed ON result ((project_id + 0), changed_xid, id);
CREATE INDEX result_completed ON result ((project_id + 0), completed_xid);
CREATE INDEX ledger_changed ON task_ledger ((project_id + 0), changed_xid);

-- Rows that were deleted.
CREATE TABLE tombstone (
    project_id bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('task', 'task_run', 'result')),
    changed_xid bigint NOT NULL,
    id bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (project_id, kind, changed_xid, id)
);
CREATE INDEX tombstone_at ON tombstone (at);

-- Which positions of a kind can be continued; without a row every one.
CREATE TABLE change_feed (
    project_id bigint NOT NULL,
    kind text NOT NULL,
    epoch int NOT NULL DEFAULT 0,               -- raised when all rows look different at once
    pruned bigint NOT NULL DEFAULT 0,           -- tombstones up to here may be missing
    moved bigint NOT NULL DEFAULT 0,            -- the last position before the database moved
    PRIMARY KEY (project_id, kind)
);

CREATE FUNCTION row_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    NEW.changed_xid := change_stamp();
    RETURN NEW;
END $$;
CREATE TRIGGER task_run_changes BEFORE UPDATE OF actor, user_id, user_ip, external_uid, created, finish_time, timeout, calibration, media_url, info
    ON task_run FOR EACH ROW
    WHEN ((OLD.actor, OLD.user_id, OLD.user_ip, OLD.external_uid, OLD.created, OLD.finish_time, OLD.timeout, OLD.calibration, OLD.media_url, OLD.info)
          IS DISTINCT FROM
          (NEW.actor, NEW.user_id, NEW.user_ip, NEW.external_uid, NEW.created, NEW.finish_time, NEW.timeout, NEW.calibration, NEW.media_url, NEW.info))
    EXECUTE FUNCTION row_changed();
CREATE TRIGGER shown_result_changes BEFORE UPDATE ON result FOR EACH ROW
    WHEN ((OLD.created, OLD.last_version, OLD.task_run_ids, OLD.info, OLD.consensus, OLD.n_compared, OLD.agreement, OLD.confidence, OLD.further,
           OLD.reason, OLD.posterior, OLD.generation)
          IS DISTINCT FROM
          (NEW.created, NEW.last_version, NEW.task_run_ids, NEW.info, NEW.consensus, NEW.n_compared, NEW.agreement, NEW.confidence, NEW.further,
           NEW.reason, NEW.posterior, NEW.generation))
    EXECUTE FUNCTION row_changed();

-- The wide row of a task; who changes it holds the ledger row.
CREATE FUNCTION task_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    UPDATE task_ledger SET changed_xid = change_stamp() WHERE project_id = NEW.project_id AND task_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER task_changes AFTER UPDATE ON task FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION task_changed();

-- Nothing is kept of a project that is deleted itself.
CREATE FUNCTION keep_tombstones() RETURNS trigger LANGUAGE plpgsql SET search_path = public, code AS $$
DECLARE stamp_ bigint := change_stamp(); at_ timestamptz := clock();
BEGIN
    INSERT INTO tombstone (project_id, kind, changed_xid, id, at)
    SELECT g.project_id, TG_TABLE_NAME, stamp_, g.id, at_ FROM gone g
     WHERE EXISTS (SELECT FROM project_ledger l WHERE l.project_id = g.project_id);
    RETURN NULL;
END $$;
CREATE TRIGGER task_goes AFTER DELETE ON task REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_tombstones();
CREATE TRIGGER task_run_goes AFTER DELETE ON task_run REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_tombstones();
CREATE TRIGGER shown_result_goes AFTER DELETE ON result REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_tombstones();

-- All rows of a kind (TG_ARGV) look different.
CREATE FUNCTION raise_epoch(p_project bigint, p_kind text) RETURNS void LANGUAGE sql AS $$
INSERT INTO public.change_feed (project_id, kind, epoch) VALUES (p_project, p_kind, 1)
    ON CONFLICT (project_id, kind) DO UPDATE SET epoch = public.change_feed.epoch + 1 $$;
CREATE FUNCTION project_looks_different() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    PERFORM raise_epoch(NEW.id, TG_ARGV[0]);
    RETURN NULL;
END $$;
CREATE TRIGGER hidden_columns_change AFTER UPDATE OF info ON project FOR EACH ROW
    WHEN (OLD.hidden_columns IS DISTINCT FROM NEW.hidden_columns) EXECUTE FUNCTION project_looks_different('task');
CREATE TRIGGER shown_fields_change AFTER UPDATE OF info ON project FOR EACH ROW
    WHEN ((OLD.answer_names, OLD.answer_fields) IS DISTINCT FROM (NEW.answer_names, NEW.answer_fields)) EXECUTE FUNCTION project_looks_different('result');
CREATE FUNCTION choices_look_different() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    PERFORM raise_epoch(coalesce(NEW.project_id, OLD.project_id), 'result');
    RETURN NULL;
END $$;
CREATE TRIGGER choices_come_or_go AFTER INSERT OR DELETE ON trust_model FOR EACH ROW EXECUTE FUNCTION choices_look_different();
CREATE TRIGGER choices_change AFTER UPDATE ON trust_model FOR EACH ROW
    WHEN (OLD.generation IS DISTINCT FROM NEW.generation) EXECUTE FUNCTION choices_look_different();
