-- How a scheduler gives places away, as words: it was a letter (n, b, i, a). Rows keep their size, because mode, done and
-- retired share eight bytes before and after.
--
-- This rewrites task_ledger, the narrow side of tasks, and eight of its indexes while nobody else can use it: 18 seconds
-- per million tasks on two busy cores. Tasks, answers and results are not touched. ANALYZE is needed because statistics
-- of the new columns would be missing until many rows have changed.
CREATE TYPE assignment_mode AS ENUM (
    'limited',                                          -- n_answers places
    'by_level',                                         -- the same, and those with the fewest answers come first
    'one_at_a_time',                                    -- the same, and one volunteer has the task at a time
    'unlimited'                                         -- everybody may answer, n_answers of the answers count
);

ALTER TABLE task_ledger DROP COLUMN open, DROP COLUMN level;    -- computed from mode, and with them the indexes below
ALTER TABLE task_ledger
    ALTER COLUMN mode DROP DEFAULT,
    ALTER COLUMN mode TYPE assignment_mode USING CASE mode
        WHEN 'a' THEN 'unlimited' WHEN 'b' THEN 'by_level' WHEN 'i' THEN 'one_at_a_time' ELSE 'limited' END::assignment_mode,
    ALTER COLUMN mode SET DEFAULT 'limited';
ALTER TABLE task_ledger
    ADD COLUMN open boolean NOT NULL GENERATED ALWAYS AS (NOT retired AND CASE mode
        WHEN 'unlimited' THEN true
        WHEN 'one_at_a_time' THEN leases = 0 AND answers < n_answers
        ELSE answers + leases < n_answers END) STORED,
    ADD COLUMN level int GENERATED ALWAYS AS (CASE mode WHEN 'by_level' THEN answers + leases END) STORED;

CREATE INDEX ledger_priority ON task_ledger (project_id, rank, task_id) WHERE open;
CREATE INDEX ledger_priority_up ON task_ledger (project_id, priority_0, task_id) WHERE open;
CREATE INDEX ledger_id ON task_ledger (project_id, task_id) WHERE open;
CREATE INDEX ledger_returns ON task_ledger (project_id, requeued_xid, task_id) WHERE open AND requeued_xid IS NOT NULL;
CREATE INDEX ledger_level ON task_ledger (project_id, level, requeued_xid, task_id) WHERE open AND mode = 'by_level';
CREATE INDEX ledger_level_priority ON task_ledger (project_id, level, rank, task_id) WHERE open AND mode = 'by_level';
CREATE INDEX ledger_level_id ON task_ledger (project_id, level, task_id) WHERE open AND mode = 'by_level';
CREATE INDEX ledger_closed ON task_ledger (project_id, priority_0, task_id) WHERE NOT open;
ANALYZE task_ledger;
