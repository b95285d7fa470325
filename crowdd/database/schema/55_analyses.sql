-- Analyses of the answers of a project: which method was run on which answers, and what it found.

-- One run of a method.
CREATE TABLE analysis (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL,                         -- sweep_project deletes those of a deleted project
    method text NOT NULL,
    answers text NOT NULL CHECK (answers IN ('counted', 'all')),
    parameters jsonb NOT NULL,
    created timestamptz NOT NULL,
    user_id bigint REFERENCES account ON DELETE SET NULL, -- who started it
    item_id bigint,                                     -- the item of the queue that does it
    error text NOT NULL DEFAULT '',
    ended timestamptz,                                  -- null: it is not done; the item says why
    seconds real,                                       -- of CPU that the method took
    -- What was analysed: null until it is done. The hash is SHA-256 of the lines task,actor number,class.
    n_answers bigint,
    n_unfit bigint,                                     -- answers without one of the choices
    n_tasks bigint,
    n_volunteers bigint,
    n_different bigint,                                 -- tasks whose result was another one when this was stored
    choices jsonb,                                      -- by number from 1
    frequencies real[],                                 -- of the choices
    input_hash text,
    versions jsonb,
    rounds int,
    converged boolean
);
CREATE INDEX analysis_of_project ON analysis (project_id, id);
CREATE INDEX analysis_of_user ON analysis (user_id) WHERE user_id IS NOT NULL;

-- What an analysis says of a task.
CREATE TABLE analysis_task (
    project_id bigint NOT NULL,
    analysis_id bigint NOT NULL,
    task_id bigint NOT NULL,
    class smallint,                                     -- null: several are equally probable
    posterior real[] NOT NULL,
    different boolean NOT NULL,
    PRIMARY KEY (project_id, analysis_id, task_id)
);
CREATE INDEX analysis_task_different ON analysis_task (project_id, analysis_id, task_id) WHERE different;

-- What an analysis says of a volunteer.
CREATE TABLE analysis_volunteer (
    project_id bigint NOT NULL,
    analysis_id bigint NOT NULL,
    volunteer text NOT NULL,                            -- the code of their answers
    n_answers bigint NOT NULL,
    accuracy real NOT NULL,                             -- mean probability of what they said
    skill real,                                         -- what the method says of them
    PRIMARY KEY (project_id, analysis_id, volunteer)
);
CREATE INDEX analysis_volunteer_accuracy ON analysis_volunteer (project_id, analysis_id, accuracy, volunteer);
