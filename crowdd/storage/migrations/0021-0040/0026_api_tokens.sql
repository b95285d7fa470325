-- Named API tokens with a scope, beside the one API key of an account.
CREATE TABLE api_token (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    token_hash bytea NOT NULL UNIQUE,                   -- keyed hash: the token itself is shown once and stored nowhere
    name text NOT NULL,
    scope text NOT NULL CHECK (scope IN ('read', 'answer', 'project', 'everything')),
    project_id bigint REFERENCES project ON DELETE CASCADE,
    created timestamptz NOT NULL,
    expires timestamptz,                                -- null: until it is revoked
    last_used timestamptz,                              -- written at most once an hour
    CHECK ((scope = 'project') = (project_id IS NOT NULL))
);
CREATE INDEX api_token_user ON api_token (user_id);
CREATE INDEX api_token_project ON api_token (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX api_token_expires ON api_token (expires) WHERE expires IS NOT NULL;
