-- Calls for many volunteers in one transaction, with one statement and one commit
-- (crowdd/kernel/concurrency/batching.py).

-- Requests for tasks. Each has project, actor, me, is_admin, unlocked, maximum, skip, scan, network and also, as next_tasks
-- takes them; nth is its place in the array. Without p_wait no lock is waited for, and the state "again" means that the
-- request must be repeated alone.
CREATE FUNCTION ask_many(p_asks jsonb, p_wait boolean, p_now timestamptz)
RETURNS TABLE (nth bigint, project bigint, state text, retry_in interval, tasks bigint[], lapsed int) LANGUAGE plpgsql AS $$
DECLARE a record; n record;
BEGIN
    FOR a IN SELECT * FROM ROWS FROM (jsonb_to_recordset(p_asks)
             AS (project bigint, actor text, me bigint, is_admin boolean, unlocked text[], maximum int, skip int, scan text, network text, also text)) WITH ORDINALITY LOOP
        n := next_tasks(a.project, a.actor, a.me, a.is_admin, a.unlocked, a.maximum, a.skip, a.scan, p_now, p_wait, coalesce(a.network, ''), a.also);
        nth := a.ordinality; project := a.project; state := n.state; retry_in := n.retry_at - p_now; tasks := n.tasks; lapsed := n.lapsed;
        RETURN NEXT;
    END LOOP;
END $$;

-- Answers. Each has project, actor, task, user_id, ip, external, info, calibration, media_url, also and
-- circumstances, as submit takes them;
-- nth is its place in the array. Processed in the order of tasks, in which all code locks their rows. With p_hurry the
-- function waits only briefly for a locked row, so that one slow answer does not delay the others.
CREATE FUNCTION submit_many(p_answers jsonb, p_hurry boolean, p_now timestamptz)
RETURNS TABLE (nth bigint, project bigint, actor text, state text, run bigint, granted timestamptz, late_seconds double precision) LANGUAGE plpgsql AS $$
DECLARE a record; s record; base bigint := change_base();
BEGIN
    IF p_hurry THEN PERFORM set_config('lock_timeout', '250ms', true); END IF;
    FOR a IN SELECT * FROM ROWS FROM (jsonb_to_recordset(p_answers) AS (project bigint, actor text, task bigint, user_id bigint, ip text,
             external text, info jsonb, calibration bigint, media_url text, also text, circumstances jsonb)) WITH ORDINALITY ORDER BY task, ordinality LOOP
        nth := a.ordinality; project := a.project; actor := a.actor;
        s := submit(a.project, a.actor, a.task, a.user_id, a.ip, a.external, coalesce(a.info, 'null'), a.calibration, a.media_url, p_now, base, a.also,
                    a.circumstances);
        state := s.state; run := s.run; granted := s.granted; late_seconds := s.late_seconds;
        RETURN NEXT;
    END LOOP;
END $$;
