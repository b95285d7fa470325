-- By what imports find tasks and answers again.

-- Tasks by the value of a key of their info, for keys that an owner has chosen at an import.
CREATE TABLE task_key (
    project_id bigint NOT NULL,
    name text NOT NULL,                                 -- the key of info
    key text NOT NULL,                                  -- its value
    task_id bigint NOT NULL,
    seen bigint NOT NULL DEFAULT 0,                     -- the last import whose file had it
    PRIMARY KEY (project_id, name, key)
) WITH (fillfactor = 80);
CREATE INDEX task_key_task ON task_key (project_id, task_id);
-- Which are gone from a file. Without the name: beside the primary key, an index that begins with both columns would look as
-- good to a planner that has no statistics yet, and it is read for each row of a file.
CREATE INDEX task_key_seen ON task_key (project_id, seen);

-- Up to which task the values of a key are known.
CREATE TABLE task_key_name (
    project_id bigint NOT NULL,
    name text NOT NULL,
    upto bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, name)
);

-- Tasks that came with an export: by the project and the id they had.
CREATE TABLE task_origin (
    project_id bigint NOT NULL,
    source bigint NOT NULL,
    original bigint NOT NULL,
    task_id bigint NOT NULL,
    PRIMARY KEY (project_id, original, source)          -- in this order for the reason above
);
CREATE INDEX task_origin_task ON task_origin (project_id, task_id, source);

-- Answers that came with an export: '<project>/<id>' as they had it.
ALTER TABLE task_run ADD origin text;
CREATE UNIQUE INDEX task_run_origin ON task_run (project_id, origin) WHERE origin IS NOT NULL;

-- A key follows when the info of its task is changed; where another task has the new value, the task has none.
CREATE FUNCTION follow_task_keys() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE names text[];
BEGIN
    WITH gone AS (
        DELETE FROM task_key WHERE project_id = NEW.project_id AND task_id = NEW.id AND key IS DISTINCT FROM NEW.info->>name RETURNING name)
    SELECT array_agg(name) INTO names FROM gone;
    INSERT INTO task_key (project_id, name, key, task_id)
    SELECT NEW.project_id, n, NEW.info->>n, NEW.id FROM unnest(names) n WHERE length(NEW.info->>n) BETWEEN 1 AND 500
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER keys_follow AFTER UPDATE OF info ON task FOR EACH ROW WHEN (OLD.info IS DISTINCT FROM NEW.info)
  EXECUTE FUNCTION follow_task_keys();
