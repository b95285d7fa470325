-- contracts: which ways into an account were set up before its e-mail address was proved, and which password they go with
-- (docs/decisions/0245-keep-only-the-ways-in-that-the-person-confirms.md)

-- Whether the address was proved when the factor was set up. Of a factor that exists already nobody knows.
ALTER TABLE passkey ADD COLUMN address_proved boolean NOT NULL DEFAULT false;
ALTER TABLE totp ADD COLUMN address_proved boolean NOT NULL DEFAULT false;
ALTER TABLE recovery_code ADD COLUMN address_proved boolean NOT NULL DEFAULT false;

-- Which providers an account signs in with (their id is in account.<provider>_user_id), and since when.
CREATE TABLE provider_connection (
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    provider text NOT NULL,
    created timestamptz NOT NULL,
    address_proved boolean NOT NULL,
    PRIMARY KEY (user_id, provider)
);
INSERT INTO provider_connection (user_id, provider, created, address_proved)
SELECT a.id, p.name, a.created, p.name <> ALL (a.unproved_providers)
  FROM account a, LATERAL (VALUES ('google', google_user_id), ('github', github_user_id), ('orcid', orcid_user_id)) p(name, id)
 WHERE p.id IS NOT NULL;
ALTER TABLE account DROP COLUMN unproved_providers;

-- Counts the passwords of an account. A sign-in that began before the last one was set opens no session, and a browser
-- that signed in before is no known device.
ALTER TABLE account ADD COLUMN access_version int NOT NULL DEFAULT 0;
