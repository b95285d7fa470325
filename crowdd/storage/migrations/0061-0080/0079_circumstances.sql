-- expands: earlier servers store answers without it

-- How an answer was given, as the volunteer's page told it (interface: taskrun-circumstances). It stays as it is when the answer is changed.
ALTER TABLE task_run ADD COLUMN circumstances jsonb;
