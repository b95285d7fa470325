-- expands: what tasks, answers and results were at a time (docs/decisions/0216-keep-earlier-versions-of-rows.md)

-- From when on earlier versions are kept. null: none are.
CREATE TABLE history (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    since timestamptz
);
INSERT INTO history (since) SELECT statement_timestamp() + ahead FROM clock_shift;

-- Versions of rows that are not there any more: the row has changed, or was deleted. They say nothing of who it was that answered, decided
-- or retired: nothing in here has to be forgotten when an account is deleted. Of a task_ledger only what owners set is kept, of a retirement
-- all but the account. A task is complete from its last result on (I4 in definitions/tasks/20_submission.sql) until a version of its ledger
-- row with the key reopens ends.
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
-- None begins with project_id: see migrations 4 and 62.
CREATE INDEX past_row_of_id ON past_row (id, kind);
CREATE INDEX past_row_of_task ON past_row (task_id, until);
CREATE INDEX past_row_until ON past_row (until);

-- The columns that are kept of a row. A column with personal data must not be among them.
CREATE FUNCTION past_columns(p_kind text) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
SELECT CASE p_kind
    WHEN 'task' THEN '{id,project_id,created,info,quorum,calibration}'::text[]
    WHEN 'task_ledger' THEN '{project_id,task_id,n_answers,max_answers,priority_0,reopens}'
    WHEN 'retirement' THEN '{project_id,task_id,reason,note,at}'
    WHEN 'task_run' THEN '{id,project_id,task_id,created,finish_time,timeout,calibration,media_url,info,counted,gold}'
    WHEN 'result' THEN '{id,project_id,task_id,version,last_version,task_run_ids,created,info,consensus,consensus_hash,n_compared,agreement,confidence,further,generation,posterior,reason,null_consensus}'
END $$;

-- Keeps a version that ends now. A row that has so many versions already keeps no further one when it changes: who corrects an answer over
-- and over must not fill the disk. The caller holds the row, so that its versions end one after the other, even if a transaction that
-- began later was first.
CREATE FUNCTION keep_version(p_kind text, p_row jsonb, p_ends boolean) RETURNS void LANGUAGE plpgsql SET search_path = public, code AS $$
DECLARE k bigint := coalesce(p_row->>'id', p_row->>'task_id'); last timestamptz; n int;
BEGIN
    IF (SELECT since IS NULL FROM history) THEN RETURN; END IF;
    SELECT max(until), count(*) INTO last, n FROM (
        SELECT until FROM past_row WHERE project_id = (p_row->>'project_id')::bigint AND kind = p_kind AND id = k ORDER BY until DESC LIMIT 100) v;
    IF n = 100 AND NOT p_ends THEN RETURN; END IF;
    INSERT INTO past_row (project_id, kind, id, until, task_id, came, "row")
    VALUES ((p_row->>'project_id')::bigint, p_kind, k, greatest(clock(), last), coalesce(p_row->>'task_id', p_row->>'id')::bigint,
            coalesce(p_row->>'finish_time', p_row->>'at', p_row->>'created', '-infinity')::timestamptz,
            (SELECT jsonb_object_agg(key, value) FROM jsonb_each(p_row) WHERE key = ANY (past_columns(p_kind))));
END $$;

-- Tasks that are open although they have a last result were reopened before versions were kept: says so, at a time.
CREATE FUNCTION mark_reopened(p_at timestamptz) RETURNS void LANGUAGE sql SET search_path = public AS $$
INSERT INTO past_row (project_id, kind, id, until, task_id, came, "row")
SELECT l.project_id, 'task_ledger', l.task_id, p_at, l.task_id, '-infinity', jsonb_build_object('project_id', l.project_id, 'task_id', l.task_id,
       'n_answers', l.n_answers, 'max_answers', l.max_answers, 'priority_0', l.priority_0, 'reopens', true)
  FROM task_ledger l WHERE NOT l.done AND EXISTS (SELECT FROM result r WHERE r.project_id = l.project_id AND r.task_id = l.task_id AND r.last_version) $$;
SELECT mark_reopened((SELECT since FROM history));

-- null_consensus: the answers agree on null, which is not the same as no consensus.
CREATE FUNCTION row_was() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE more jsonb := '{}';
BEGIN
    IF TG_TABLE_NAME = 'result' THEN more := jsonb_build_object('null_consensus', OLD.consensus = 'null'); END IF;
    PERFORM keep_version(TG_TABLE_NAME, to_jsonb(OLD) || more, false);
    RETURN NULL;
END $$;
-- Handing out a task, an answer and a completion fire none of these: they insert rows, and change other columns. The ledger has none for
-- updates, because PostgreSQL would read each ledger row again for each lease and each answer: statements that change what owners set of a
-- task keep its version (definitions/tasks/40_changes.sql).
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

-- Nothing is kept of a project that is deleted itself.
CREATE FUNCTION rows_were() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
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
