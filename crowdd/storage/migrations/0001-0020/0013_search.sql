-- What people search projects by.
CREATE INDEX project_search ON project USING gin ((name || ' ' || description) gin_trgm_ops);
