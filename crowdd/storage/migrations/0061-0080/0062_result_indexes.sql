-- The last result of a task is found by the key (project_id, task_id, version). An index of last versions that begins with project_id looks
-- as good to the planner while a table has no statistics yet, and is smaller: then each look-up reads all results of its project, and
-- 100,000 results that are imported into a new site take minutes. See migration 4.
DROP INDEX result_agreement;
DROP INDEX result_consensus;
DROP INDEX result_review;
-- project_id is there twice: an index alone can answer only what has the column itself.
CREATE INDEX result_agreement ON result ((project_id + 0), agreement, id) INCLUDE (project_id, n_compared) WHERE last_version;
CREATE INDEX result_consensus ON result (consensus_hash, project_id, id) WHERE last_version;
CREATE INDEX result_review ON result (reason, project_id, class, coalesce(confidence, 0), task_id) WHERE last_version AND reason IS NOT NULL;
