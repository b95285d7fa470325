-- What owners close: drafts behind a link, answers until a task is complete, tokens for one external user each.

-- Who has the "try it" link of a draft may see and try it. 128 random bits; null once the project was published.
ALTER TABLE project ADD COLUMN draft_key text;
ALTER TABLE project_ledger ADD COLUMN draft_key text;                   -- as in project
UPDATE project SET draft_key = 'try-' || left(encode(sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea), 'hex'), 32)
 WHERE first_published IS NULL;
UPDATE project_ledger l SET draft_key = p.draft_key FROM project p WHERE p.id = l.project_id AND p.draft_key IS NOT NULL;

-- Settings of info that rights are decided by, beside the wide column that holds the presenter.
ALTER TABLE project
    ADD COLUMN answers_when_complete boolean NOT NULL GENERATED ALWAYS AS (info @> '{"answers_when_complete": true}') STORED,
    ADD COLUMN token_per_volunteer boolean NOT NULL GENERATED ALWAYS AS (info @> '{"token_per_volunteer": true}') STORED;
