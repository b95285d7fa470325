-- expands: pictures, sounds and videos that volunteers send with their answers
-- Until an answer names it, a file belongs to who sends it; a job deletes those that none has named after a day. The answer's deletion deletes it.
CREATE TABLE answer_file (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    task_id bigint NOT NULL,
    actor text NOT NULL,                                -- who sent it, as in task_run; afterwards the answer says whose it is
    network text,                                       -- pseudonym of the network that it came from, until an answer names it
    key text NOT NULL,                                  -- the client's own name for it: the same key is the same file
    word text NOT NULL UNIQUE,                          -- random: its address
    created timestamptz NOT NULL,
    run_id bigint,
    bytes bigint NOT NULL CHECK (bytes > 0),            -- until it is ready those that are to come, afterwards those that are kept
    facts jsonb,                                        -- kind, type, sha256 and size of what is kept; null: it is arriving
    path text NOT NULL UNIQUE,                          -- in the media store
    thumbnail text UNIQUE,                              -- of a picture, there too
    CONSTRAINT answer_file_key UNIQUE (project_id, task_id, actor, key),
    FOREIGN KEY (project_id, run_id) REFERENCES task_run ON DELETE CASCADE,
    CHECK (run_id IS NULL OR facts IS NOT NULL)
);
CREATE INDEX answer_file_run ON answer_file (project_id, run_id);
CREATE INDEX answer_file_unnamed ON answer_file (created) WHERE run_id IS NULL;
CREATE INDEX answer_file_actor ON answer_file (actor);

-- Files in the media store whose rows are gone: a job removes them.
CREATE TABLE dropped_answer_file (
    path text PRIMARY KEY
);

CREATE FUNCTION answer_files_go() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO dropped_answer_file SELECT path FROM gone UNION SELECT thumbnail FROM gone WHERE thumbnail IS NOT NULL ON CONFLICT DO NOTHING;
    DELETE FROM upload_file u USING gone g WHERE u.path = g.path OR u.path = g.thumbnail;
    RETURN NULL;
END $$;
CREATE TRIGGER answer_files_go AFTER DELETE ON answer_file REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION answer_files_go();
