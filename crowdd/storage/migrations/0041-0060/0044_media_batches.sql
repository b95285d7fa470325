-- Media that owners bring from their computers: batches of files, each of which becomes a task.

CREATE TABLE media_batch (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    user_id bigint,                                             -- who brings it; no reference, so that accounts can go
    created timestamptz NOT NULL,
    grouping text NOT NULL CHECK (grouping IN ('file', 'name')),-- one task for each file, or for files that belong together by name
    column_name text NOT NULL CHECK (length(column_name) <= 100),-- of the tasks, that files fill; '': by the questions
    keep_location boolean NOT NULL,                             -- where pictures were taken
    keep_original boolean NOT NULL,                             -- pictures in full size
    n_answers int NOT NULL CHECK (n_answers BETWEEN 1 AND 1000),
    closed timestamptz,                                         -- from when on no further file is taken
    queue_item bigint,                                          -- the background task that prepares its files
    n_files int NOT NULL DEFAULT 0,                             -- all of its rows below
    open_files int NOT NULL DEFAULT 0,                          -- of these are arriving or waiting
    open_bytes bigint NOT NULL DEFAULT 0
);
CREATE INDEX media_batch_newest ON media_batch (project_id, id);
CREATE INDEX media_batch_open ON media_batch (id) WHERE open_files > 0;

-- Files, the members of archives, and the pages of documents. While a file is arriving or waiting, its bytes are in the data
-- folder (media/<id>); afterwards what was made of it is in the media store.
CREATE TABLE media_file (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_id bigint NOT NULL REFERENCES media_batch ON DELETE CASCADE,
    project_id bigint NOT NULL,
    created timestamptz NOT NULL,
    parent_id bigint REFERENCES media_file ON DELETE CASCADE,   -- the archive or the document that it comes from
    page int NOT NULL DEFAULT 0,                                -- of a document, from 1
    path text NOT NULL CHECK (length(path) BETWEEN 1 AND 500),  -- with its folders, as the owner's computer has it
    key text NOT NULL CHECK (length(key) BETWEEN 1 AND 200),    -- what tells the files of a batch apart: the client's word
    bytes bigint NOT NULL CHECK (bytes >= 0),
    state text NOT NULL CHECK (state IN ('arriving', 'waiting', 'prepared', 'split', 'added', 'present', 'refused')),
    expires timestamptz CHECK ((expires IS NULL) = (state <> 'arriving')),
    reason jsonb,                                               -- of a refusal: a sentence with its values
    digest bytea,                                               -- SHA-256 of the content that came, for a page with its number
    prepared jsonb,                                             -- what was made of it, and where that is in the media store
    task_id bigint                                              -- of an added or present file
);
CREATE UNIQUE INDEX media_file_key ON media_file (batch_id, key);
CREATE INDEX media_file_state ON media_file (batch_id, state, id);
CREATE INDEX media_file_parent ON media_file (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX media_file_digest ON media_file (project_id, digest) WHERE digest IS NOT NULL;
CREATE INDEX media_file_expires ON media_file (expires) WHERE expires IS NOT NULL;

-- Keeps the counters of batches. Who changes a file and its batch in one transaction locks the batch first.
CREATE FUNCTION count_media() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE was int := 0; is_ int := 0; had bigint := 0; has_ bigint := 0; batch bigint;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        batch := OLD.batch_id;
        IF OLD.state IN ('arriving', 'waiting') THEN was := 1; had := OLD.bytes; END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        batch := NEW.batch_id;
        IF NEW.state IN ('arriving', 'waiting') THEN is_ := 1; has_ := NEW.bytes; END IF;
    END IF;
    IF (was, had) <> (is_, has_) OR TG_OP <> 'UPDATE' THEN
        UPDATE media_batch SET open_files = open_files + is_ - was, open_bytes = open_bytes + has_ - had,
               n_files = n_files + (TG_OP = 'INSERT')::int - (TG_OP = 'DELETE')::int
         WHERE id = batch;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER media_is_counted AFTER INSERT OR DELETE OR UPDATE OF state, bytes ON media_file FOR EACH ROW EXECUTE FUNCTION count_media();
