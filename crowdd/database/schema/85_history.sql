-- What changed: positions to follow changes from (record 30), and earlier versions of rows (record 31).

-- Changes: task_ledger, task_run and result have changed_xid ----------------------------------------------------------

-- An answer or a result is shown differently.
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

-- The wide row of a task; a statement that changes it has locked the ledger row.
CREATE FUNCTION task_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    UPDATE task_ledger SET changed_xid = change_stamp() WHERE project_id = NEW.project_id AND task_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER task_changes AFTER UPDATE ON task FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION task_changed();

-- Rows that were deleted. Nothing is kept of a project that is deleted itself.
CREATE TABLE tombstone (
    project_id bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('task', 'task_run', 'result')),
    changed_xid bigint NOT NULL,
    id bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (project_id, kind, changed_xid, id)
);
CREATE INDEX tombstone_at ON tombstone (at);

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

-- Which positions of a kind can be continued; without a row every one.
CREATE TABLE change_feed (
    project_id bigint NOT NULL,
    kind text NOT NULL,
    epoch int NOT NULL DEFAULT 0,                       -- raised when all rows look different at once
    pruned bigint NOT NULL DEFAULT 0,                   -- tombstones up to here may be missing
    moved bigint NOT NULL DEFAULT 0,                    -- the last position before the database moved
    PRIMARY KEY (project_id, kind)
);

-- All rows of a kind look different: their positions begin again.
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

-- Earlier versions ----------------------------------------------------------------------------------------------------

-- From when on earlier versions are kept. Null: none are.
CREATE TABLE history (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    since timestamptz
);
INSERT INTO history (since) SELECT statement_timestamp() + ahead FROM clock_shift;

-- Versions of rows that are not there any more: the row has changed, or was deleted. They say nothing of who it was that answered, decided
-- or retired: nothing in here has to be forgotten when an account is deleted (past_columns in definitions/transfer/68_history.sql). Of a
-- task_ledger only what owners set is kept, of a retirement all but the account. A task is complete from its last result on (I4 in
-- definitions/tasks/20_submission.sql) until a version of its ledger row with the key reopens ends.
CREATE TABLE past_row (
    project_id bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('task', 'task_ledger', 'retirement', 'task_run', 'result')),
    id bigint NOT NULL,                                 -- of a task_ledger and of a retirement that of the task
    until timestamptz NOT NULL,                         -- it was so before this time
    n bigint GENERATED ALWAYS AS IDENTITY,              -- the order of versions that ended at the same time
    task_id bigint NOT NULL,
    came timestamptz NOT NULL,                          -- since when there was such a row, in whichever version
    "row" jsonb NOT NULL,
    PRIMARY KEY (project_id, kind, id, until, n)
);
-- None begins with project_id: see the note in 01_core.sql.
CREATE INDEX past_row_of_id ON past_row (id, kind);
CREATE INDEX past_row_of_task ON past_row (task_id, until);
CREATE INDEX past_row_until ON past_row (until);

-- A row has changed. null_consensus: the answers agree on null, which is not the same as no consensus.
--
-- Handing out a task, an answer and a completion fire none of these triggers: they insert rows, and change other columns. The ledger has
-- none for updates, because PostgreSQL would read each ledger row again for each lease and each answer: statements that change what
-- owners set of a task keep its version (definitions/tasks/40_changes.sql).
CREATE FUNCTION row_was() RETURNS trigger LANGUAGE plpgsql SET search_path = public, code AS $$
DECLARE more jsonb := '{}';
BEGIN
    IF TG_TABLE_NAME = 'result' THEN more := jsonb_build_object('null_consensus', OLD.consensus = 'null'); END IF;
    PERFORM keep_version(TG_TABLE_NAME, to_jsonb(OLD) || more, false);
    RETURN NULL;
END $$;
CREATE TRIGGER past_task AFTER UPDATE ON task FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION row_was();
CREATE TRIGGER past_retirement AFTER UPDATE ON retirement FOR EACH ROW
    WHEN ((OLD.reason, OLD.note, OLD.at) IS DISTINCT FROM (NEW.reason, NEW.note, NEW.at)) EXECUTE FUNCTION row_was();
CREATE TRIGGER past_task_run AFTER UPDATE OF created, finish_time, timeout, calibration, media_url, info ON task_run FOR EACH ROW
    WHEN ((OLD.created, OLD.finish_time, OLD.timeout, OLD.calibration, OLD.media_url, OLD.info)
          IS DISTINCT FROM (NEW.created, NEW.finish_time, NEW.timeout, NEW.calibration, NEW.media_url, NEW.info))
    EXECUTE FUNCTION row_was();

-- A result whose answers were still to be compared, or that had not taught yet, is no version of its own.
CREATE TRIGGER past_result AFTER UPDATE OF last_version, task_run_ids, created, info, consensus, n_compared, confidence, further, reason, posterior, generation
    ON result FOR EACH ROW
    WHEN ((OLD.last_version, OLD.task_run_ids, OLD.created, OLD.info, OLD.consensus, OLD.confidence, OLD.further, OLD.reason, OLD.posterior)
          IS DISTINCT FROM (NEW.last_version, NEW.task_run_ids, NEW.created, NEW.info, NEW.consensus, NEW.confidence, NEW.further, NEW.reason, NEW.posterior)
          AND NOT (OLD.n_compared IS NULL AND NEW.n_compared IS NOT NULL) OR OLD.generation <> coalesce(NEW.generation, -1))
    EXECUTE FUNCTION row_was();

-- Rows were deleted. Nothing is kept of a project that is deleted itself.
CREATE FUNCTION rows_were() RETURNS trigger LANGUAGE plpgsql SET search_path = public, code AS $$
BEGIN
    IF TG_TABLE_NAME = 'result' THEN
        PERFORM keep_version('result', to_jsonb(g) || jsonb_build_object('null_consensus', g.consensus = 'null'), true) FROM gone g
         WHERE EXISTS (SELECT FROM project_ledger l WHERE l.project_id = g.project_id);
        RETURN NULL;
    END IF;
    PERFORM keep_version(TG_TABLE_NAME, to_jsonb(g), true) FROM gone g
     WHERE EXISTS (SELECT FROM project_ledger l WHERE l.project_id = g.project_id);
    RETURN NULL;
END $$;
CREATE TRIGGER past_task_goes AFTER DELETE ON task REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION rows_were();
CREATE TRIGGER past_task_ledger_goes AFTER DELETE ON task_ledger REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION rows_were();
CREATE TRIGGER past_retirement_goes AFTER DELETE ON retirement REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION rows_were();
CREATE TRIGGER past_task_run_goes AFTER DELETE ON task_run REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION rows_were();
CREATE TRIGGER past_result_goes AFTER DELETE ON result REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION rows_were();
