-- Indexes for the lists of owners: deliveries and background tasks of a project by state, however many others there are.
DROP INDEX delivery_failed;
CREATE INDEX delivery_state ON delivery (project_id, state, id);
CREATE INDEX queue_item_project_state ON queue_item (project_id, state, id) WHERE project_id IS NOT NULL;
