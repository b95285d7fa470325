-- Indexes for the lists of administrators: each filter and order of a page is read from one of them, however long the list is.

-- Audit log: by the name of a person, alone or with what was changed; of a project by a person.
CREATE INDEX audit_user_name ON audit (user_name, id);
CREATE INDEX audit_user_kind ON audit (user_name, kind, id);
CREATE INDEX audit_project_user ON audit (project_id, user_name, id) WHERE project_id IS NOT NULL;

-- Security log: of an account or of what was typed for one, alone or with what happened.
DROP INDEX security_log_actor;
CREATE INDEX security_log_actor ON security_log (actor_id, id) WHERE actor_id IS NOT NULL;
CREATE INDEX security_log_user_kind ON security_log (user_id, kind, id) WHERE user_id IS NOT NULL;
CREATE INDEX security_log_actor_kind ON security_log (actor_id, kind, id) WHERE actor_id IS NOT NULL;
CREATE INDEX security_log_tried_kind ON security_log (tried, kind, id) WHERE tried <> '';

-- Background tasks and e-mails by state; e-mails by address.
CREATE INDEX queue_item_state ON queue_item (state, id);
CREATE INDEX mail_state ON mail (state, id);
CREATE INDEX mail_to ON mail (lower(recipient), id);
CREATE INDEX mail_to_state ON mail (lower(recipient), state, id);

-- Accounts that are blocked, and accounts by the beginning of their names.
CREATE INDEX account_blocked ON account (id) WHERE "restrict";
CREATE INDEX account_name_begins ON account (lower(name) text_pattern_ops);

-- Projects by owner and state.
DROP INDEX project_owner;
CREATE INDEX project_owner ON project (owner_id, id);
CREATE INDEX project_state ON project
    ((CASE WHEN published THEN 'published' WHEN first_published IS NULL THEN 'draft' ELSE 'paused' END), id);
CREATE INDEX project_owner_state ON project
    (owner_id, (CASE WHEN published THEN 'published' WHEN first_published IS NULL THEN 'draft' ELSE 'paused' END), id);

-- Webhooks, those in trouble first.
CREATE INDEX webhook_trouble ON webhook ((NOT active) DESC, failures DESC, project_id DESC);
