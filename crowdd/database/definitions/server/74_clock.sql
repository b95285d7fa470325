-- Remembers the time. When it was set back since the last call, everything that waits for a time waits as long as it would
-- have waited without that, and nothing lasts longer than it may. Returns by how many seconds; 0: it went on.
-- Rows that were written since the clock was set back may be due that much earlier. No row is removed.
CREATE FUNCTION follow_clock(p_now timestamptz) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE before timestamptz; back interval;
BEGIN
    SELECT at INTO before FROM clock_seen FOR UPDATE;
    INSERT INTO clock_seen (at) VALUES (p_now) ON CONFLICT (single) DO UPDATE SET at = EXCLUDED.at;
    IF before IS NULL OR before < p_now + interval '10 seconds' THEN RETURN 0; END IF;
    back := before - p_now;

    -- A lease ends one lease time from now at the latest, however often it was renewed.
    UPDATE lease l SET granted = least(l.granted, p_now), expires = least(l.expires, p_now + greatest(p.lease, p.preload))
      FROM project_ledger p
     WHERE p.project_id = l.project_id AND (l.granted > p_now OR l.expires > p_now + greatest(p.lease, p.preload));

    UPDATE queue_item SET due = greatest(p_now, due - back) WHERE state = 'waiting' AND due > p_now;
    UPDATE queue_item SET due = p_now + interval '1 minute' WHERE state = 'running' AND due > p_now + interval '1 minute';
    UPDATE mail SET due = greatest(p_now, due - back) WHERE state = 'waiting' AND due > p_now;
    UPDATE delivery SET next_at = greatest(p_now, next_at - back) WHERE state = 'waiting' AND next_at > p_now;
    UPDATE webhook SET next_at = greatest(p_now, next_at - back) WHERE next_at > p_now;
    UPDATE import_source SET next_at = greatest(p_now, next_at - back) WHERE next_at > p_now;
    UPDATE attempt_count SET until = greatest(p_now, until - back) WHERE until > p_now;

    -- A proof of identity is no fresher than if it were given now.
    UPDATE session SET proved = least(proved, p_now), admin_seen = least(admin_seen, p_now), last_seen = least(last_seen, p_now)
     WHERE greatest(proved, admin_seen, last_seen) > p_now;
    RETURN extract(epoch FROM back);
END $$;
