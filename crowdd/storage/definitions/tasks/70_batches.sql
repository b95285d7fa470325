-- Calls of many volunteers in one transaction: one statement and one commit for all (crowdd/concurrency/batching.py).

-- Asks, each with project, actor, me, is_admin, unlocked, most, skip, scan and network, as next_tasks has them; nth is its place in
-- the array. Without p_wait nobody is waited for, and state "again" means to ask alone.
CREATE FUNCTION ask_many(p_asks jsonb, p_wait boolean, p_now timestamptz)
RETURNS TABLE (nth bigint, project bigint, state text, retry_in interval, tasks bigint[], lapsed int) LANGUAGE plpgsql AS $$
DECLARE a record; n record;
BEGIN
    FOR a IN SELECT * FROM ROWS FROM (jsonb_to_recordset(p_asks)
             AS (project bigint, actor text, me bigint, is_admin boolean, unlocked text[], maximum int, skip int, scan text, network text)) WITH ORDINALITY LOOP
        n := next_tasks(a.project, a.actor, a.me, a.is_admin, a.unlocked, a.maximum, a.skip, a.scan, p_now, p_wait, coalesce(a.network, ''));
        nth := a.ordinality; project := a.project; state := n.state; retry_in := n.retry_at - p_now; tasks := n.tasks; lapsed := n.lapsed;
        RETURN NEXT;
    END LOOP;
END $$;

-- Answers, each with project, actor, task, user_id, ip, external, info, calibration and media_url, as submit has them; nth
-- is its place in the array. In the order of tasks, as everybody takes their rows. With p_hurry a row that somebody holds
-- is not waited for long: one's bad luck must not be everybody's.
CREATE FUNCTION submit_many(p_answers jsonb, p_hurry boolean, p_now timestamptz)
RETURNS TABLE (nth bigint, project bigint, actor text, state text, run bigint, granted timestamptz, late_seconds double precision) LANGUAGE plpgsql AS $$
DECLARE a record;
BEGIN
    IF p_hurry THEN PERFORM set_config('lock_timeout', '250ms', true); END IF;
    FOR a IN SELECT * FROM ROWS FROM (jsonb_to_recordset(p_answers) AS (project bigint, actor text, task bigint, user_id bigint, ip text,
             external text, info jsonb, calibration bigint, media_url text)) WITH ORDINALITY ORDER BY task, ordinality LOOP
        nth := a.ordinality; project := a.project; actor := a.actor;
        SELECT s.state, s.run, s.granted, s.late_seconds INTO state, run, granted, late_seconds
          FROM submit(a.project, a.actor, a.task, a.user_id, a.ip, a.external, coalesce(a.info, 'null'), a.calibration, a.media_url, p_now) s;
        RETURN NEXT;
    END LOOP;
END $$;
