-- Imports are read against the project before anything is added.

ALTER TABLE task_import
    ADD dialect jsonb,                                  -- how the file is read; null: as it looks
    ADD kind text NOT NULL DEFAULT '',                  -- table, tasks (an export of tasks), answers (one of task runs); '': unread
    ADD doubts jsonb NOT NULL DEFAULT '[]',             -- what the owner is asked about the file
    ADD key_name text,                                  -- the column by which tasks are found again
    ADD n_answers int,                                  -- of tasks whose row says nothing about it
    ADD on_error text CHECK (on_error IN ('skip', 'stop')),   -- what becomes of the rest when rows are refused; null: unsaid
    ADD auto boolean NOT NULL DEFAULT false,            -- begins when it has been read, if nothing has to be decided
    ADD check_item bigint,                              -- the work that reads it
    ADD check_error text NOT NULL DEFAULT '',           -- why it cannot be used
    ADD checked jsonb,                                  -- the choices that the preview was made with
    ADD preview jsonb,                                  -- what would become of the rows
    ADD blank bigint NOT NULL DEFAULT 0,                -- rows without any content: left out
    ADD updated bigint NOT NULL DEFAULT 0,              -- tasks found by their key and changed
    ADD twice bigint NOT NULL DEFAULT 0,                -- of present: rows that stand in the file before
    ADD kept bigint NOT NULL DEFAULT 0;                 -- of present: changed rows whose task is left as it is, being answered

-- What has begun goes on as it began: refused rows are left out.
UPDATE task_import SET on_error = 'skip' WHERE queue_item IS NOT NULL AND ended IS NULL;

-- "Known answer" did nothing: such columns become keys of info.
UPDATE task_import i
   SET uses = (SELECT jsonb_object_agg(key, CASE value WHEN '"calibration"' THEN '"info"' ELSE value END) FROM jsonb_each(i.uses))
 WHERE uses IS NOT NULL AND ended IS NULL AND EXISTS (SELECT FROM jsonb_each(i.uses) WHERE value = '"calibration"');
