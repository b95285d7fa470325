-- Which process works on an item: the name of an advisory lock that its session holds. PostgreSQL frees it with the session,
-- so that others see at once that the process has died. Null: only its heartbeat tells.
ALTER TABLE queue_item ADD worker text;
