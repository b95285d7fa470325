-- Every order of tasks that newtask promises at constant cost, in both directions and within a level.
CREATE INDEX ledger_priority_up ON task_ledger (project_id, priority_0, task_id) WHERE open;
CREATE INDEX ledger_level_priority ON task_ledger (project_id, level, rank, task_id) WHERE open AND mode = 'b';
CREATE INDEX ledger_level_id ON task_ledger (project_id, level, task_id) WHERE open AND mode = 'b';

-- A volunteer requests tasks in an order in which added tasks come before others: these are stamped as returned for
-- them.
ALTER TABLE project_ledger ADD COLUMN two_way boolean NOT NULL DEFAULT false;

-- Who retired a task, when and why. The row is deleted when the task is put back. A completed task needs no row: its
-- result has the time.
CREATE TABLE retirement (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    reason text NOT NULL CHECK (reason IN ('retired', 'cancelled')),
    note text NOT NULL DEFAULT '',
    user_id bigint,
    at timestamptz NOT NULL,
    PRIMARY KEY (project_id, task_id)
);

-- The PostgreSQL server on which the stamps were made (pg_control_system). One row. Another server counts transactions
-- differently.
CREATE TABLE cluster (
    system_identifier bigint NOT NULL,
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
INSERT INTO cluster SELECT system_identifier FROM pg_control_system();
