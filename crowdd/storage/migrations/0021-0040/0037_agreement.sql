-- What the answers of a completed task say together, kept with its result: the value that most of them have, and their share.
-- The columns change only when a result is made, and when the project compares its answers by another key.

ALTER TABLE result
    ADD consensus jsonb,                                        -- the most frequent value; null: several are, or it is long
    ADD consensus_hash bigint,                                  -- its jsonb_hash_extended; null: several values are the most frequent
    ADD n_compared int,                                         -- answers that were compared
    ADD agreement real;                                         -- share of the most frequent value; null: not compared yet

CREATE INDEX result_agreement ON result (project_id, agreement, id) INCLUDE (n_compared) WHERE last_version;
CREATE INDEX result_consensus ON result (project_id, consensus_hash, id) WHERE last_version;

-- Projects whose last results have to be compared again, up to after_task already done. Transactions before xact may still
-- complete tasks by the old key; null: it is not known yet which these are. A million results take minutes, which is too
-- long for one statement: a job fills them in small transactions (compare_results).
CREATE TABLE agreement_due (
    project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,
    after_task bigint NOT NULL DEFAULT 0,
    xact bigint
);
INSERT INTO agreement_due (project_id) SELECT id FROM project p WHERE EXISTS (SELECT FROM result r WHERE r.project_id = p.id);

CREATE FUNCTION answer_key_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO agreement_due (project_id) VALUES (NEW.id) ON CONFLICT (project_id) DO UPDATE SET after_task = 0, xact = NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER answer_key_changes AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN (OLD.answer_key IS DISTINCT FROM NEW.answer_key) EXECUTE FUNCTION answer_key_changed();
