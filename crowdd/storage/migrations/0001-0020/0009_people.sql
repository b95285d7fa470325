-- Data of accounts beside their row: sessions, avatars, tokens of providers, exports.

ALTER TABLE session ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY UNIQUE;

-- Below the folder of uploads; never what a client said.
ALTER TABLE account ADD COLUMN avatar_file text;

-- A keyed hash of the address that a link was sent to: the newest one ends those before, and they go with the person.
ALTER TABLE one_time_link ADD COLUMN subject bytea;
CREATE INDEX one_time_link_subject ON one_time_link (subject) WHERE subject IS NOT NULL;
CREATE INDEX one_time_link_user ON one_time_link (user_id) WHERE user_id IS NOT NULL;

-- What google, github or orcid gave at the last sign-in, encrypted with the server's secret.
CREATE TABLE provider_token (
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    provider text NOT NULL,
    sealed bytea NOT NULL,
    created timestamptz NOT NULL,
    PRIMARY KEY (user_id, provider)
);

-- An export of all data about a person, on request; one at a time, for a few days.
CREATE TABLE personal_export (
    user_id bigint PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    requested timestamptz NOT NULL,
    ready timestamptz,
    file text,                                          -- below the folder of exports
    bytes bigint
);
CREATE INDEX personal_export_ready ON personal_export (ready) WHERE ready IS NOT NULL;

-- The answers of one browser, for people who claim them. Answers of accounts are not in the index.
CREATE INDEX task_run_browser ON task_run (actor, project_id, task_id) WHERE actor LIKE 'c:%';

-- Deleted accounts, for some hours: an answer that was in progress is still stored under their pseudonym.
CREATE TABLE farewell (
    user_id bigint PRIMARY KEY,                         -- no foreign key: the account is no more
    pseudonym text NOT NULL,                            -- of an address; one for each person, the same in all projects
    at timestamptz NOT NULL
);
