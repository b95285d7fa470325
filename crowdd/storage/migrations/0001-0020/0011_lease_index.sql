-- Leases are created and deleted frequently, and a table that was just vacuumed looks empty to the planner. Every index
-- that begins with project_id then looks as good as the key, and finding a volunteer's own leases read everybody's,
-- including dead rows. Queries for leases by their end use -project_id; no other query can use this index.
DROP INDEX lease_expires;
CREATE INDEX lease_expires ON lease ((-project_id), expires);
