-- Tasks in the order of their priority, those that are not open too: with ledger_priority_up all of a project's. A task
-- gets in when its last place is taken, not with each lease or answer.
CREATE INDEX ledger_closed ON task_ledger (project_id, priority_0, task_id) WHERE NOT open;
