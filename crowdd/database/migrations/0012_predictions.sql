-- expands: predictions of models, questions that suggest them, and tokens that may send them

CREATE TABLE prediction (
    id bigint GENERATED ALWAYS AS IDENTITY,
    created timestamptz NOT NULL,                       -- when it was sent first with this value
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    model text NOT NULL,
    version text NOT NULL,
    question text NOT NULL,
    value jsonb NOT NULL,                               -- in the form of an answer to the question
    probability double precision,                       -- that it is right, as the model says; null: unknown
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, task_id, question, model, version),
    FOREIGN KEY (project_id, task_id) REFERENCES task (project_id, id) ON DELETE CASCADE
);
CREATE INDEX prediction_id ON prediction (id);

CREATE TRIGGER bytes_come AFTER INSERT ON prediction REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(value::text)', 'project_id');
CREATE TRIGGER bytes_change AFTER UPDATE OF value ON prediction FOR EACH ROW WHEN (OLD.value <> NEW.value)
  EXECUTE FUNCTION count_bytes('octet_length(value::text)', 'project_id');
CREATE TRIGGER bytes_go AFTER DELETE ON prediction REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION count_bytes('octet_length(value::text)', 'project_id');

-- The questions that suggest what a model predicts: an array of their names, and behind these of their models. Null: none.
ALTER TABLE project ADD COLUMN suggested_models jsonb GENERATED ALWAYS AS (
    nullif(jsonb_path_query_array(info, '$.questions.steps[*].questions[*] ? (exists (@.suggest.model)).name', '{}', true)
        || jsonb_path_query_array(info, '$.questions.steps[*].questions[*].suggest.model', '{}', true), '[]')) STORED;

ALTER TABLE api_token DROP CONSTRAINT api_token_scope_check, ADD CONSTRAINT api_token_scope_check CHECK (scope IN ('read', 'answer', 'predict', 'project', 'everything'));
