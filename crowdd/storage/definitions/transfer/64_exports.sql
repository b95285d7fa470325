-- Files that leave a project (crowdd/storage/transfer/exports.py).

-- The next lines of a cursor as one text: at most p_rows of them, and none after p_bytes. n is how many; 0: there are no more.
CREATE FUNCTION export_piece(p_lines refcursor, p_between text, p_rows int, p_bytes int, OUT content text, OUT n int) LANGUAGE plpgsql AS $$
DECLARE lines text[] := '{}'; next_line text; bytes bigint := 0;
BEGIN
    n := 0;
    WHILE n < p_rows AND bytes < p_bytes LOOP
        FETCH p_lines INTO next_line;
        EXIT WHEN NOT FOUND;
        n := n + 1; lines[n] := next_line; bytes := bytes + octet_length(next_line);
    END LOOP;
    content := array_to_string(lines, p_between);
END $$;

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
