-- expands: translations of the texts of projects, and the people who write them

ALTER TABLE project ADD COLUMN translator_ids bigint[] NOT NULL DEFAULT '{}';   -- who may translate its texts, beside the owners
CREATE INDEX project_translators ON project USING gin (translator_ids);

-- The texts of a project in another language (crowdd/kinds/translations.py).
CREATE TABLE project_translation (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    language text NOT NULL,
    version int NOT NULL DEFAULT 0,                     -- how often it was changed
    strings jsonb NOT NULL DEFAULT '{}',                -- by key: text, and source, the digest of the text that it was made from
    PRIMARY KEY (project_id, language)
);
CREATE CONSTRAINT TRIGGER project_translation_exposed AFTER INSERT OR UPDATE OR DELETE ON project_translation DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();

CREATE TRIGGER bytes_come AFTER INSERT ON project_translation REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(strings::text)', 'project_id');
CREATE TRIGGER bytes_change AFTER UPDATE OF strings ON project_translation FOR EACH ROW WHEN (OLD.strings <> NEW.strings)
  EXECUTE FUNCTION count_bytes('octet_length(strings::text)', 'project_id');
CREATE TRIGGER bytes_go AFTER DELETE ON project_translation REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(strings::text)', 'project_id');
