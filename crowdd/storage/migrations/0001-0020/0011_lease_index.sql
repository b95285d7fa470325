-- Leases come and go, and to the planner a table that was just vacuumed is empty: every index that begins with project_id then
-- looks as good as the key, and a volunteer's own leases were found by reading everybody's, with all that had died since. Who
-- looks for leases by their end says -project_id; nobody else can get at this index.
DROP INDEX lease_expires;
CREATE INDEX lease_expires ON lease ((-project_id), expires);
