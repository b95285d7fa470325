-- The planner assumes that a project newer than the last ANALYZE has a single task. Every index of the ledger that
-- begins with project_id then looks as good as the key, and finding one task reads all tasks of its project.
DROP INDEX ledger_ordinal;
CREATE UNIQUE INDEX ledger_ordinal ON task_ledger (ordinal, project_id);
