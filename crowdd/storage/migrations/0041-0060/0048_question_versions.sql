-- Earlier lists of questions, so that answers to them can still be read: each answer names the version that it was given to.

CREATE TABLE question_version (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    version int NOT NULL CHECK (version > 0),                   -- info.questions_version of the project
    created timestamptz NOT NULL,
    questions jsonb NOT NULL,                                   -- info.questions of the project
    PRIMARY KEY (project_id, version)
);

-- Keeps the current questions of a project and those of the 99 versions before. A trigger, because info is written in many
-- ways: pages, the API, project folders.
CREATE FUNCTION keep_questions() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE v int := CASE WHEN NEW.info->>'questions_version' ~ '^[1-9][0-9]{0,8}$' THEN (NEW.info->>'questions_version')::int END;
BEGIN
    IF v IS NULL OR jsonb_typeof(NEW.info->'questions') <> 'object' THEN RETURN NULL; END IF;
    INSERT INTO question_version (project_id, version, created, questions) VALUES (NEW.id, v, now(), NEW.info->'questions')
    ON CONFLICT (project_id, version) DO UPDATE SET questions = EXCLUDED.questions;
    DELETE FROM question_version WHERE project_id = NEW.id AND version <= v - 100;
    RETURN NULL;
END $$;
CREATE TRIGGER questions_begin AFTER INSERT ON project FOR EACH ROW WHEN (NEW.info ? 'questions') EXECUTE FUNCTION keep_questions();
CREATE TRIGGER questions_change AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN (NEW.info ? 'questions' AND NEW.info->'questions' IS DISTINCT FROM OLD.info->'questions') EXECUTE FUNCTION keep_questions();

INSERT INTO question_version (project_id, version, created, questions)
SELECT id, (info->>'questions_version')::int, updated, info->'questions' FROM project
 WHERE jsonb_typeof(info->'questions') = 'object' AND info->>'questions_version' ~ '^[1-9][0-9]{0,8}$';
