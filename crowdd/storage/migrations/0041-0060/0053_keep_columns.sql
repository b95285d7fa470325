-- Tables that complete tasks: an import by a key may keep the columns that its file does not have.

ALTER TABLE task_import ADD COLUMN keep_columns boolean NOT NULL DEFAULT false;
