-- Positions of changes, and rows that were deleted (record 30).

-- Transactions before this position have ended: nothing appears there any more. Of the snapshot of the calling statement.
CREATE FUNCTION change_horizon() RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + change_base FROM public.cluster $$;

-- The last position between two of a kind in a project; null if nothing changed there.
CREATE FUNCTION last_change(p_project bigint, p_kind text, p_after bigint, p_before bigint) RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT greatest(CASE p_kind
    WHEN 'task_run' THEN (SELECT max(changed_xid) FROM task_run WHERE -project_id = -p_project AND changed_xid > p_after AND changed_xid < p_before)
    WHEN 'result' THEN (SELECT max(changed_xid) FROM result WHERE -project_id = -p_project AND changed_xid > p_after AND changed_xid < p_before)
    WHEN 'task' THEN greatest((SELECT max(changed_xid) FROM task_ledger WHERE -project_id = -p_project AND changed_xid > p_after AND changed_xid < p_before),
        (SELECT max(completed_xid) FROM result WHERE -project_id = -p_project AND completed_xid > p_after AND completed_xid < p_before))
    END, (SELECT max(changed_xid) FROM tombstone WHERE project_id = p_project AND kind = p_kind AND changed_xid > p_after AND changed_xid < p_before)) $$;

-- The database has moved, and change_base was raised: keeps the last position that each project had before.
CREATE FUNCTION know_positions() RETURNS void LANGUAGE sql AS $$
INSERT INTO change_feed (project_id, kind, moved)
SELECT p.project_id, k.kind, greatest(last_change(p.project_id, k.kind, -1, 9223372036854775807), coalesce(f.pruned, 0))
  FROM project_ledger p CROSS JOIN (VALUES ('task'), ('task_run'), ('result')) k(kind)
  LEFT JOIN change_feed f ON f.project_id = p.project_id AND f.kind = k.kind ORDER BY 1, 2
    ON CONFLICT (project_id, kind) DO UPDATE SET moved = excluded.moved $$;

-- Deletes the next tombstones of before a time, at most p_maximum, and remembers up to where. Returns how many there were.
CREATE FUNCTION prune_tombstones(p_before timestamptz, p_maximum int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    WITH old AS (
        SELECT project_id, kind, changed_xid, id FROM tombstone WHERE at < p_before AND changed_xid < change_horizon() ORDER BY at LIMIT p_maximum
    ), gone AS (
        DELETE FROM tombstone t USING old o WHERE (t.project_id, t.kind, t.changed_xid, t.id) = (o.project_id, o.kind, o.changed_xid, o.id)
        RETURNING t.project_id, t.kind, t.changed_xid
    ), remembered AS (
        INSERT INTO change_feed (project_id, kind, pruned)
        SELECT g.project_id, g.kind, max(g.changed_xid) FROM gone g JOIN project_ledger p USING (project_id) GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (project_id, kind) DO UPDATE SET pruned = greatest(change_feed.pruned, excluded.pruned)
    )
    SELECT count(*) INTO n FROM gone;
    RETURN n;
END $$;
