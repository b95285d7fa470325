-- Limits on attempts, and what is known of an account whose address was never confirmed.

-- Attempts to enter passwords, send e-mails and sign up, per subject: one row each, so that one statement counts and
-- decides.
DROP TABLE attempt;
CREATE TABLE attempt_count (
    subject text PRIMARY KEY,                           -- a keyed hash: what was tried is stored nowhere
    used int NOT NULL,
    until timestamptz NOT NULL                          -- the end of the window that the first attempt began
) WITH (fillfactor = 70);
CREATE INDEX attempt_count_until ON attempt_count (until);

-- Providers that were connected before the address was proved: a reset by mail disconnects them. Of accounts that exist
-- already nobody knows when their address was proved.
ALTER TABLE account ADD COLUMN unproved_providers text[] NOT NULL DEFAULT '{}';
UPDATE account SET unproved_providers = array_remove(ARRAY[
    CASE WHEN google_user_id IS NOT NULL THEN 'google' END,
    CASE WHEN github_user_id IS NOT NULL THEN 'github' END,
    CASE WHEN orcid_user_id IS NOT NULL THEN 'orcid' END], NULL)
 WHERE num_nonnulls(google_user_id, github_user_id, orcid_user_id) > 0;

-- A keyed hash of the network that asked for a link: those who ask elsewhere cannot end it.
ALTER TABLE one_time_link ADD COLUMN origin bytea;
