-- expands: rules of owners complete tasks, ask for more answers and have results reviewed

-- Versions of the rules of a project (info.task_rules, definitions/trust/58_task_rules.sql). The newest one holds; [] has none.
CREATE TABLE task_rules (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    version int NOT NULL,
    rules jsonb NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (project_id, version)
);

-- What a rule did with a task.
CREATE TABLE rule_decision (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    rule text NOT NULL,                                 -- its name
    version int NOT NULL,                               -- of the rules
    kind text NOT NULL CHECK (kind IN ('complete', 'more_answers', 'review')),
    answers int NOT NULL,                               -- counted answers of the task by then
    at timestamptz NOT NULL,
    PRIMARY KEY (project_id, task_id, rule, kind),
    FOREIGN KEY (project_id, task_id) REFERENCES task (project_id, id) ON DELETE CASCADE
);
CREATE INDEX rule_decision_review ON rule_decision (project_id, task_id) WHERE kind = 'review';

-- Whether a project has rules; and what a task has at least before it is complete early, because a rule asked for more.
ALTER TABLE project_ledger ADD COLUMN has_rules boolean NOT NULL DEFAULT false;
ALTER TABLE task_ledger ADD COLUMN least_answers int;

CREATE FUNCTION rules_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = public, code AS $$
BEGIN
    PERFORM keep_rules(NEW.id, NEW.info->'task_rules');
    RETURN NULL;
END $$;
CREATE TRIGGER rules_come AFTER INSERT ON project FOR EACH ROW WHEN (NEW.info ? 'task_rules') EXECUTE FUNCTION rules_changed();
CREATE TRIGGER rules_change AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN (OLD.info->'task_rules' IS DISTINCT FROM NEW.info->'task_rules') EXECUTE FUNCTION rules_changed();

-- A ledger that comes after the rules says that there are some.
CREATE FUNCTION rules_known() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    NEW.has_rules := coalesce((SELECT rules <> '[]' FROM task_rules WHERE project_id = NEW.project_id ORDER BY version DESC LIMIT 1), false);
    RETURN NEW;
END $$;
CREATE TRIGGER rules_are_known BEFORE INSERT ON project_ledger FOR EACH ROW EXECUTE FUNCTION rules_known();
