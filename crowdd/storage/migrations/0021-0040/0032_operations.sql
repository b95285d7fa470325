-- Which secret.key this database belongs to, and its backups.

-- One row per line of secret.key. Nothing can be derived from a fingerprint; `id` is the public name that sealed values
-- begin with. Line 0 is the last one of the file, which look-ups are made with; the highest line seals.
CREATE TABLE server_key (
    line int PRIMARY KEY CHECK (line >= 0),
    fingerprint bytea NOT NULL UNIQUE CHECK (length(fingerprint) = 32),
    id bytea NOT NULL CHECK (length(id) = 8),
    recorded timestamptz NOT NULL DEFAULT now()
);

-- Backups made by crowdctl backup, the newest fifty: crowdctl doctor looks at the age of the last one.
CREATE TABLE backup (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    snapshot_at timestamptz NOT NULL,                   -- what was committed before is in it
    finished timestamptz NOT NULL,
    bytes bigint NOT NULL
);
