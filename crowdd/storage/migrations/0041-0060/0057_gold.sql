-- Gold tasks: what is drawn, which answers they got, and who may see what meanwhile (definitions/gold/33_gold.sql).

-- While a project has gold tasks, volunteers see their own answers only, and of no task whether it is complete.
ALTER TABLE project ADD COLUMN has_gold boolean NOT NULL DEFAULT false,
    ADD COLUMN shows_accuracy boolean GENERATED ALWAYS AS (coalesce(info->'show_accuracy' = 'true', false)) STORED;

ALTER TABLE project_ledger
    ADD COLUMN gold_rate real NOT NULL DEFAULT 0.05,            -- share of gold tasks in the long run (info.gold_rate)
    ADD COLUMN gold_start real NOT NULL DEFAULT 0.3,            -- at the beginning of each volunteer (info.gold_start)
    ADD COLUMN gold_feedback boolean NOT NULL DEFAULT false;    -- volunteers hear whether they were right (info.gold_feedback)

ALTER TABLE gold_task
    ADD COLUMN generation int NOT NULL DEFAULT 0,               -- of the model under which its answers were compared, 0 without one
    ADD COLUMN n_seen int NOT NULL DEFAULT 0,                   -- answers that were compared,
    ADD COLUMN n_right int NOT NULL DEFAULT 0;                  -- and how many of them were right
COMMENT ON COLUMN gold_task.answer IS 'array of the values that are right';

ALTER TABLE task_run
    ADD COLUMN gold boolean NOT NULL DEFAULT false,             -- given while its task was a gold task
    ADD COLUMN is_right boolean,                                -- of gold; null: still to be compared
    ADD COLUMN taught jsonb;                                    -- what its evidence said: {generation, class, truth}; null: it taught nothing
CREATE INDEX task_run_gold ON task_run (project_id, id) WHERE gold AND is_right IS NULL;
CREATE INDEX task_run_gold_of ON task_run (project_id, actor) WHERE gold;
