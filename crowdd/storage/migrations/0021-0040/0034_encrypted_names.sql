-- Names that say what they hold: nothing is added, and nothing that owners see is renamed. Only the catalogue and a few
-- rows change, so that the size of the database does not count.

ALTER TABLE account RENAME COLUMN api_key_sealed TO api_key_encrypted;
ALTER TABLE project RENAME COLUMN secret_key_sealed TO secret_key_encrypted;
ALTER TABLE webhook RENAME COLUMN secret_sealed TO secret_encrypted;
ALTER TABLE webhook RENAME COLUMN old_secret_sealed TO old_secret_encrypted;
ALTER TABLE totp RENAME COLUMN sealed TO encrypted;
ALTER TABLE provider_token RENAME COLUMN sealed TO encrypted;
UPDATE one_time_link SET data = data - 'sealed' || jsonb_build_object('encrypted', data->'sealed') WHERE data ? 'sealed';

ALTER TABLE farewell RENAME TO account_deletion;
ALTER INDEX farewell_pkey RENAME TO account_deletion_pkey;

UPDATE job SET name = 'finish_account_deletions' WHERE name = 'finish_farewells';
UPDATE job_run SET name = 'finish_account_deletions' WHERE name = 'finish_farewells';
UPDATE queue_item SET name = 'password_reset_mail' WHERE name = 'reset_letter';
