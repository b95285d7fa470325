-- Personal data is removed after some time, in limited steps of one transaction each
-- (crowdd/features/operations/retention.py).

-- Removes the pseudonyms of addresses from answers that were stored before a time, among the next p_most answers.
-- Returns how many answers it checked; 0 at the end. It continues where it stopped, because ids grow with the time of
-- the answer.
CREATE FUNCTION forget_addresses(p_before timestamptz, p_maximum int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE first bigint; last bigint; n bigint;
BEGIN
    INSERT INTO swept VALUES ('task_run.user_ip', 0) ON CONFLICT DO NOTHING;
    SELECT upto INTO first FROM swept WHERE name = 'task_run.user_ip' FOR UPDATE;
    SELECT coalesce(min(id) FILTER (WHERE finish_time >= p_before) - 1, max(id)), count(*) FILTER (WHERE finish_time < p_before) INTO last, n
      FROM (SELECT id, finish_time FROM task_run WHERE id > first ORDER BY id LIMIT p_maximum) r;
    UPDATE task_run SET user_ip = NULL WHERE id > first AND id <= last AND user_ip IS NOT NULL;
    UPDATE swept SET upto = last WHERE name = 'task_run.user_ip' AND last > first;
    RETURN CASE WHEN last > first THEN n ELSE 0 END;
END $$;

-- Removes all accounts from the volunteers that events before a time name, among the next p_most events after one.
-- Returns the last event that was checked; nulls at the end.
CREATE FUNCTION forget_users_in_events(p_before timestamptz, p_project bigint, p_event bigint, p_maximum int, OUT project bigint, OUT event bigint) LANGUAGE plpgsql AS $$
BEGIN
    SELECT e.project_id, e.id INTO project, event FROM (
        SELECT project_id, id FROM event WHERE (project_id, id) > (p_project, p_event) ORDER BY project_id, id LIMIT p_maximum) e
     ORDER BY 1 DESC, 2 DESC LIMIT 1;
    UPDATE event e SET data = jsonb_set(data, '{user_ids}', '[]')
     WHERE (e.project_id, e.id) > (p_project, p_event) AND (e.project_id, e.id) <= (project, event) AND e.at < p_before
       AND coalesce(data->'user_ids', '[]') <> '[]';
END $$;
