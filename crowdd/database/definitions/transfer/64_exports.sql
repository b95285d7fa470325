-- Files that leave a project (crowdd/features/exports/statements.py).

-- What last results say, a row for each answer field.
CREATE VIEW consensus_export AS
SELECT r.id, r.project_id, r.task_id, r.id AS result_id, r.created, e.key AS field, e.value->'value' AS value, (e.value->>'answers')::bigint AS answers,
       (e.value->>'agreement')::float8 AS agreement, (e.value->>'confidence')::float8 AS confidence, r.reason
  FROM result_record r CROSS JOIN LATERAL jsonb_each(CASE WHEN jsonb_typeof(r.consensus) = 'object' THEN r.consensus END) WITH ORDINALITY e(key, value, nth)
 WHERE r.last_version;

-- Events that have a number, as webhooks are told of them.
CREATE VIEW event_export AS
SELECT e.seq AS id, e.project_id, e.seq AS sequence, e.kind AS event, e.at AS fired_at, e.task_id, e.result_id, event_data(e) AS data
  FROM event e WHERE e.seq IS NOT NULL;
