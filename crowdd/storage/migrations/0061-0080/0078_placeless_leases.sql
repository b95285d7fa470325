-- expands: leases that take no place of their task, of volunteers in projects with gold tasks (docs/decisions/0249-tell-volunteers-nothing-that-depends-on-gold.md)
ALTER TABLE expired_lease ADD COLUMN placeless boolean NOT NULL DEFAULT false;
CREATE INDEX expired_lease_placeless ON expired_lease (project_id, actor) WHERE placeless;
