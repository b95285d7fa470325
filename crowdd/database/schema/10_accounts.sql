-- Accounts: people, their sessions, and how they sign in. What an account did is in 15_audit.sql.

-- A person with an account.
CREATE TABLE account (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    name text NOT NULL,
    fullname text NOT NULL,
    email_addr text NOT NULL,
    passwd_hash text,                                   -- argon2id; null: signs in with a provider only
    api_key_hash bytea NOT NULL UNIQUE,                 -- keyed hash: what a key is looked up by
    api_key_encrypted bytea NOT NULL,                   -- encrypted with the server's secret: its owner may see it again
    admin boolean NOT NULL DEFAULT false,
    pro boolean NOT NULL DEFAULT false,
    "restrict" boolean NOT NULL DEFAULT false,          -- blocked: cannot sign in, shown nowhere
    privacy_mode boolean NOT NULL DEFAULT true,
    subscribed boolean NOT NULL DEFAULT false,
    newsletter_prompted boolean NOT NULL DEFAULT false,
    valid_email boolean NOT NULL DEFAULT false,
    confirmation_email_sent boolean NOT NULL DEFAULT false,
    consent boolean NOT NULL DEFAULT false,
    locale text NOT NULL DEFAULT 'en',
    flags bigint,
    category bigint,
    catalog_api text,
    google_user_id text UNIQUE,
    github_user_id text UNIQUE,
    orcid_user_id text UNIQUE,
    info jsonb NOT NULL DEFAULT '{}',
    avatar_file text,                                   -- path below the folder of uploads, chosen by the server
    second_factor boolean NOT NULL DEFAULT false,       -- has a confirmed authenticator app or a passkey: every request of a session asks
    last_signed_in timestamptz,                         -- null: not yet, so the first device is no news
    -- Counts the passwords of the account. A sign-in that began before the last one was set opens no session, and a browser
    -- that signed in before is no known device.
    access_version int NOT NULL DEFAULT 0,
    name_skeleton text                                  -- how the name looks (01_core.sql)
);
CREATE UNIQUE INDEX account_name ON account (lower(name));
CREATE UNIQUE INDEX account_email_addr ON account (lower(email_addr));
-- The administrators' list: by a part of names or address, by kind, by the beginning of the name.
CREATE INDEX account_search ON account USING gin ((name || ' ' || fullname || ' ' || email_addr) gin_trgm_ops);
CREATE INDEX account_admin ON account (id) WHERE admin;
CREATE INDEX account_created ON account (created);
CREATE INDEX account_blocked ON account (id) WHERE "restrict";
CREATE INDEX account_name_begins ON account (lower(name) text_pattern_ops);
CREATE UNIQUE INDEX account_name_skeleton ON account (name_skeleton) WHERE name_skeleton <> '';
CREATE TRIGGER account_names BEFORE INSERT OR UPDATE OF name ON account FOR EACH ROW EXECUTE FUNCTION names_changed();
CREATE CONSTRAINT TRIGGER account_exposed AFTER UPDATE OF name, fullname, "restrict", privacy_mode, info ON account DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();
CREATE CONSTRAINT TRIGGER account_gone AFTER DELETE ON account DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION exposure_changed();

-- A browser that is signed in.
CREATE TABLE session (
    token_hash bytea PRIMARY KEY,                       -- the token itself is only in its owner's cookie
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    created timestamptz NOT NULL,
    last_seen timestamptz NOT NULL,
    expires timestamptz NOT NULL,
    agent text NOT NULL DEFAULT '',
    address text NOT NULL DEFAULT '',                   -- pseudonym
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    proved timestamptz NOT NULL,                        -- when the password or a second factor was last given
    admin_seen timestamptz                              -- when it was last used below /admin
);
CREATE INDEX session_of_user ON session (user_id);
CREATE INDEX session_expires ON session (expires);

-- Links that work once: the first administrator, confirmation of an e-mail address, reset of a password.
CREATE TABLE one_time_link (
    token_hash bytea PRIMARY KEY,
    purpose text NOT NULL,
    user_id bigint REFERENCES account ON DELETE CASCADE,
    data jsonb NOT NULL DEFAULT '{}',
    created timestamptz NOT NULL,
    expires timestamptz NOT NULL,
    subject bytea,                                      -- keyed hash of the address it was sent to: a newer link ends those before
    origin bytea                                        -- keyed hash of the network that asked: a request from elsewhere cannot end it
);
CREATE INDEX one_time_link_subject ON one_time_link (subject) WHERE subject IS NOT NULL;
CREATE INDEX one_time_link_user ON one_time_link (user_id) WHERE user_id IS NOT NULL;

-- Attempts to enter passwords, to have e-mails sent and to sign up: one row for each subject, so that one statement counts and decides.
CREATE TABLE attempt_count (
    subject text PRIMARY KEY,                           -- a keyed hash: what was tried is stored nowhere
    used int NOT NULL,
    until timestamptz NOT NULL                          -- the end of the window that the first attempt began
) WITH (fillfactor = 70);
CREATE INDEX attempt_count_until ON attempt_count (until);

-- Ways in. address_proved: the e-mail address was proved when the way was set up (record 37).

-- Authenticator apps: time-based codes (RFC 6238), one secret per account.
CREATE TABLE totp (
    user_id bigint PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    encrypted bytea NOT NULL,                           -- the shared secret, encrypted with the server's secret
    created timestamptz NOT NULL,
    confirmed timestamptz,                              -- null: shown, but no code was given yet
    last_step bigint NOT NULL DEFAULT 0,                -- the time step of the last code that was accepted
    address_proved boolean NOT NULL DEFAULT false
);

-- Passkeys (WebAuthn): public keys of people's devices.
CREATE TABLE passkey (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    credential_id bytea NOT NULL UNIQUE,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,                                 -- what its person calls it
    created timestamptz NOT NULL,
    last_used timestamptz,
    address_proved boolean NOT NULL DEFAULT false
);
CREATE INDEX passkey_user ON passkey (user_id);

-- Recovery codes that are not used up, as keyed hashes.
CREATE TABLE recovery_code (
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    code_hash bytea NOT NULL,
    created timestamptz NOT NULL,
    address_proved boolean NOT NULL DEFAULT false,
    PRIMARY KEY (user_id, code_hash)
);

-- Challenges of passkeys that were answered: none is answered twice. Kept until they would run out anyway.
CREATE TABLE used_challenge (
    challenge_hash bytea PRIMARY KEY,
    expires timestamptz NOT NULL
);
CREATE INDEX used_challenge_expires ON used_challenge (expires);

-- Which providers an account signs in with (their id is in account.<provider>_user_id), and since when.
CREATE TABLE provider_connection (
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    provider text NOT NULL,
    created timestamptz NOT NULL,
    address_proved boolean NOT NULL,
    PRIMARY KEY (user_id, provider)
);

-- What google, github or orcid gave at the last sign-in, encrypted with the server's secret.
CREATE TABLE provider_token (
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    provider text NOT NULL,
    encrypted bytea NOT NULL,
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

-- Deleted accounts, for some hours: an answer that was in progress is still stored under their pseudonym.
CREATE TABLE account_deletion (
    user_id bigint PRIMARY KEY,                         -- no foreign key: the account is deleted
    pseudonym text NOT NULL,                            -- of an address; one for each person, the same in all projects
    at timestamptz NOT NULL
);
