-- A number that changes with everything that decides what visitors may see. Pages that a process has made for one of them are sent
-- to others only while it is the same (crowdd/domain/core/exposure.py). It is counted at the end of a transaction, behind
-- all other locks, so that its row is locked for no longer than a commit takes; and once in a transaction, however many
-- rows that changes: each further version of the row would make the next one dearer. No answer changes one of these tables.
CREATE TABLE exposure (version bigint NOT NULL, single boolean PRIMARY KEY DEFAULT true CHECK (single));
INSERT INTO exposure (version) VALUES (1);

CREATE FUNCTION exposure_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('crowdd.exposed_by', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        UPDATE exposure SET version = version + 1;
        PERFORM set_config('crowdd.exposed_by', pg_current_xact_id()::text, true);  -- forgotten with a savepoint that is undone
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER project_exposed AFTER INSERT OR UPDATE OR DELETE ON project DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER task_gone AFTER DELETE ON task DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER volunteer_barred AFTER INSERT OR UPDATE OR DELETE ON barred_volunteer DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER account_exposed AFTER UPDATE OF name, fullname, "restrict", privacy_mode, info ON account DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER account_gone AFTER DELETE ON account DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER category_exposed AFTER INSERT OR UPDATE OR DELETE ON category DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER blogpost_exposed AFTER INSERT OR UPDATE OR DELETE ON blogpost DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER announcement_exposed AFTER INSERT OR UPDATE OR DELETE ON announcement DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER site_exposed AFTER UPDATE ON site DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION exposure_changed();
