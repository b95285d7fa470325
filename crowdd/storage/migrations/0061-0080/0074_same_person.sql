-- expands: which identities of volunteers belong to one person (docs/decisions/0244-link-the-identities-that-one-browser-proves.md)

-- A browser has proved both: the cookie of a volunteer (c:), an account (u:), an external user (x:). Each link is two rows. project_id: the
-- project whose external user one of both is, for another project may mean somebody else by the same id; 0: neither is one. due, in the
-- row whose actor is less: the answers that both gave to a task are still to be looked for; 0: at once; otherwise when all transactions
-- before this one have ended, since they may not have seen the link; null: that is done.
CREATE TABLE same_person (
    actor text NOT NULL,
    project_id bigint NOT NULL,
    other text NOT NULL,
    created timestamptz NOT NULL,
    due xid8,
    PRIMARY KEY (actor, project_id, other)
);
CREATE INDEX same_person_due ON same_person (actor) WHERE due IS NOT NULL;
CREATE INDEX same_person_project ON same_person (project_id) WHERE project_id <> 0;

-- task_run.aside is 0 where the same person had answered the task before.
CREATE INDEX task_run_repeated ON task_run (actor, project_id) WHERE aside = 0;
