-- expands: what has changed is found by indexes of an expression that only its statements use

-- While statistics said that a table was empty, plans that look for the answers of a network took these indexes, and read all
-- answers of the project.
DROP INDEX ledger_changed;
CREATE INDEX ledger_changed ON task_ledger ((-project_id), changed_xid);
DROP INDEX task_run_changed;
CREATE INDEX task_run_changed ON task_run ((-project_id), changed_xid, id);
DROP INDEX result_changed;
CREATE INDEX result_changed ON result ((-project_id), changed_xid, id);
DROP INDEX result_completed;
CREATE INDEX result_completed ON result ((-project_id), completed_xid);
