-- Every order of tasks that newtask promises at constant cost, in both directions and within a level.
CREATE INDEX ledger_priority_up ON task_ledger (project_id, priority_0, task_id) WHERE open;
CREATE INDEX ledger_level_priority ON task_ledger (project_id, level, rank, task_id) WHERE open AND mode = 'b';
CREATE INDEX ledger_level_id ON task_ledger (project_id, level, task_id) WHERE open AND mode = 'b';

-- Somebody asks in an order in which tasks that are added sort before others: they are brought back to him.
ALTER TABLE project_ledger ADD COLUMN two_way boolean NOT NULL DEFAULT false;

-- Who took a task out, when and why; gone when it is reopened. A task that is complete needs no row: its result says when.
CREATE TABLE retirement (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    reason text NOT NULL CHECK (reason IN ('retired', 'cancelled')),
    note text NOT NULL DEFAULT '',
    user_id bigint,
    at timestamptz NOT NULL,
    PRIMARY KEY (project_id, task_id)
);

-- Which PostgreSQL the stamps were made on (pg_control_system). One row. Another one counts transactions anew.
CREATE TABLE cluster (
    system_identifier bigint NOT NULL,
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
INSERT INTO cluster SELECT system_identifier FROM pg_control_system();
