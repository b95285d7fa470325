-- Recent proofs of sessions, and second factors: authenticator apps, passkeys, recovery codes.

-- When the password or a second factor was last given in a session, and when it was last used below /admin.
ALTER TABLE session ADD COLUMN proved timestamptz;
UPDATE session SET proved = created;
ALTER TABLE session ALTER COLUMN proved SET NOT NULL;
ALTER TABLE session ADD COLUMN admin_seen timestamptz;

-- Whether the account has a confirmed authenticator app or a passkey: kept here because every request of a session asks.
ALTER TABLE account ADD COLUMN second_factor boolean NOT NULL DEFAULT false;
-- Null: nobody has signed in yet, so the first device is no news.
ALTER TABLE account ADD COLUMN last_signed_in timestamptz;
UPDATE account SET last_signed_in = created;

-- Authenticator apps: time-based codes (RFC 6238), one secret per account.
CREATE TABLE totp (
    user_id bigint PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    sealed bytea NOT NULL,                              -- the shared secret, encrypted with the server's secret
    created timestamptz NOT NULL,
    confirmed timestamptz,                              -- null: shown, but no code was given yet
    last_step bigint NOT NULL DEFAULT 0                 -- the time step of the last code that was accepted
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
    last_used timestamptz
);
CREATE INDEX passkey_user ON passkey (user_id);

-- Recovery codes that are not used up, as keyed hashes.
CREATE TABLE recovery_code (
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    code_hash bytea NOT NULL,
    created timestamptz NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);

-- Challenges of passkeys that were answered: none is answered twice. Kept until they would run out anyway.
CREATE TABLE used_challenge (
    challenge_hash bytea PRIMARY KEY,
    expires timestamptz NOT NULL
);
CREATE INDEX used_challenge_expires ON used_challenge (expires);
