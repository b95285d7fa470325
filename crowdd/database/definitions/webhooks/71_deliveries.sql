-- Deliveries of events to the webhook of a project. One process at a time delivers (sched.deliveries). Deliveries in
-- progress are known only in its memory, so if the process dies they are simply still waiting.

-- Creates deliveries of a project's next events while fewer than p_most are due: new events first, then those that its
-- owner wants to send again. Returns how many were created.
CREATE FUNCTION feed_deliveries(p_project bigint, p_maximum int, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE w webhook; room int; k int; upto bigint;
BEGIN
    SELECT * INTO w FROM webhook WHERE project_id = p_project AND active
       AND EXISTS (SELECT FROM project WHERE id = p_project AND webhook IS NOT NULL) FOR UPDATE;
    IF NOT FOUND OR w.replay_to IS NULL AND NOT EXISTS (SELECT FROM event WHERE project_id = p_project AND seq > w.last_seq) THEN
        RETURN 0;
    END IF;
    room := p_maximum - (SELECT count(*) FROM (
        SELECT FROM delivery WHERE project_id = p_project AND state = 'waiting' AND next_at <= p_now LIMIT p_maximum) d);
    IF room <= 0 THEN RETURN 0; END IF;
    WITH next AS (
        SELECT * FROM event WHERE project_id = p_project AND seq > w.last_seq ORDER BY seq LIMIT room
    ), made AS (
        INSERT INTO delivery (project_id, event_id, seq, kind, task_id, created, next_at)
        SELECT p_project, id, seq, kind, task_id, p_now, p_now FROM next ORDER BY seq ON CONFLICT (project_id, event_id) DO NOTHING
    )
    SELECT count(*), max(seq) INTO k, upto FROM next;
    IF k > 0 THEN
        UPDATE webhook SET last_seq = upto WHERE project_id = p_project;
    END IF;
    RETURN k + CASE WHEN w.replay_to IS NULL OR k >= room THEN 0 ELSE replay_deliveries(w, room - k, p_now) END;
END $$;

-- The part of feed_deliveries that sends events again. The caller has locked the webhook's row.
CREATE FUNCTION replay_deliveries(w webhook, p_room int, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE k int; upto bigint;
BEGIN
    WITH next AS (
        SELECT * FROM event WHERE project_id = w.project_id AND seq > w.replay_from AND seq <= w.replay_to ORDER BY seq LIMIT p_room
    ), made AS (
        INSERT INTO delivery AS d (project_id, event_id, seq, kind, task_id, created, again, next_at)
        SELECT w.project_id, id, seq, kind, task_id, p_now, NOT w.replay_missing, p_now FROM next ORDER BY seq
            ON CONFLICT (project_id, event_id) DO UPDATE SET state = 'waiting', attempts = 0, again = true, finished = NULL, next_at = p_now
               WHERE d.state <> 'waiting' AND NOT w.replay_missing
    )
    SELECT count(*), max(seq) INTO k, upto FROM next;
    IF k < p_room THEN
        UPDATE webhook SET replay_from = NULL, replay_to = NULL, replay_missing = false WHERE project_id = w.project_id;
    ELSE
        UPDATE webhook SET replay_from = upto WHERE project_id = w.project_id;
    END IF;
    RETURN k;
END $$;

-- What can be sent now to a project's receiver, at most p_room in addition to p_busy, which are in progress. Events of
-- one task are sent one after the other, an event without a task after all before it, a test at any time. While the
-- receiver fails, one delivery at a time is sent, and not before the scheduled time.
CREATE FUNCTION due_deliveries(p_project bigint, p_room int, p_busy bigint[], p_now timestamptz) RETURNS SETOF delivery STABLE LANGUAGE sql AS $$
SELECT d.* FROM webhook w, delivery d
 WHERE w.project_id = p_project AND d.project_id = p_project AND d.state = 'waiting' AND d.next_at <= p_now AND d.id <> ALL (p_busy)
   AND (d.kind = 'ping' OR w.active AND (w.failures < 2 OR cardinality(p_busy) = 0 AND w.next_at <= p_now))
   AND NOT EXISTS (SELECT FROM delivery e WHERE e.project_id = p_project AND e.state = 'waiting' AND e.task_id = d.task_id AND e.seq < d.seq)
   AND (d.task_id IS NOT NULL
        OR NOT EXISTS (SELECT FROM delivery e WHERE e.project_id = p_project AND e.state = 'waiting' AND e.seq < d.seq))
 ORDER BY d.next_at, d.id
 LIMIT (SELECT CASE WHEN failures < 2 THEN p_room ELSE least(p_room, 1) END FROM webhook WHERE project_id = p_project) $$;

-- A receiver accepted a delivery. If it had failed before, deliveries that are scheduled for later are due now.
CREATE FUNCTION note_delivered(p_project bigint, p_delivery bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE failing boolean;
BEGIN
    SELECT failures > 1 INTO failing FROM webhook WHERE project_id = p_project AND failures > 0 FOR UPDATE;
    UPDATE delivery SET state = 'delivered', attempts = attempts + 1, finished = p_now WHERE project_id = p_project AND id = p_delivery;
    IF failing IS NOT NULL THEN
        UPDATE webhook SET failures = 0, failed_at = NULL, next_at = NULL WHERE project_id = p_project;
    END IF;
    IF failing THEN
        UPDATE delivery SET next_at = p_now WHERE project_id = p_project AND state = 'waiting' AND next_at > p_now;
    END IF;
END $$;
