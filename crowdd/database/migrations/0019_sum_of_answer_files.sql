-- expands: the bytes of the files of answers of a project, so that a file that comes does not sum up all others

CREATE TABLE answer_file_sum (
    project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,
    bytes bigint NOT NULL
) WITH (fillfactor = 50);

-- Projects one after the other, so that two transactions do not wait for each other. A row of a project that is being deleted is gone or goes.
CREATE FUNCTION sum_answer_files() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE c record;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        UPDATE answer_file_sum SET bytes = bytes + NEW.bytes - OLD.bytes WHERE project_id = NEW.project_id;
        RETURN NULL;
    END IF;
    FOR c IN SELECT project_id, sum(bytes)::bigint AS bytes FROM changed GROUP BY 1 ORDER BY 1 LOOP
        IF TG_OP = 'DELETE' THEN
            UPDATE answer_file_sum SET bytes = bytes - c.bytes WHERE project_id = c.project_id;
        ELSE
            INSERT INTO answer_file_sum AS s VALUES (c.project_id, c.bytes) ON CONFLICT (project_id) DO UPDATE SET bytes = s.bytes + excluded.bytes;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER sum_comes AFTER INSERT ON answer_file REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sum_answer_files();
CREATE TRIGGER sum_changes AFTER UPDATE OF bytes ON answer_file FOR EACH ROW WHEN (OLD.bytes <> NEW.bytes) EXECUTE FUNCTION sum_answer_files();
CREATE TRIGGER sum_goes AFTER DELETE ON answer_file REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sum_answer_files();
INSERT INTO answer_file_sum SELECT project_id, sum(bytes) FROM answer_file GROUP BY 1;

-- Files that no answer names, by who sent them and from where.
CREATE INDEX answer_file_of_person ON answer_file (project_id, actor) WHERE run_id IS NULL;
CREATE INDEX answer_file_of_network ON answer_file (project_id, network) WHERE run_id IS NULL;
