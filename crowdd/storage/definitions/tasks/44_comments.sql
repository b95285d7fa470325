-- Stores a comment on a task. The lock makes comments on one project wait for each other, so that no two of them pass a limit
-- together; the key share lock makes the deletion of the task and the comment wait for each other. Returns stored (also for
-- what the same person wrote on the task within a day); daily or full (a limit is reached); paused; no task; and the results of
-- access_refusal.
CREATE FUNCTION comment_task(p_project bigint, p_task bigint, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[],
                             p_network text, p_kind text, p_text text, p_daily int, p_open int, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE p project_ledger; state text;
BEGIN
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project;
    state := access_refusal(p, p_actor, p_user, p_admin, p_unlocked, p_network);
    IF state IS NOT NULL THEN RETURN state; END IF;
    IF p.paused THEN RETURN 'paused'; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('task_comment', p_project));
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR KEY SHARE;
    IF NOT FOUND THEN RETURN 'no task'; END IF;
    IF EXISTS (SELECT FROM task_comment c WHERE c.project_id = p_project AND c.actor = p_actor AND c.created > p_now - interval '1 day'
                  AND c.task_id = p_task AND c.text = p_text) THEN RETURN 'stored'; END IF;
    IF (SELECT count(*) FROM task_comment c WHERE c.project_id = p_project AND c.actor = p_actor
           AND c.created > p_now - interval '1 day') >= p_daily THEN RETURN 'daily'; END IF;
    IF (SELECT count(*) FROM task_comment c WHERE c.project_id = p_project AND NOT c.settled) >= p_open THEN RETURN 'full'; END IF;
    PERFORM volunteer_word(p_project, p_actor);
    INSERT INTO task_comment (project_id, task_id, user_id, actor, created, kind, text)
    VALUES (p_project, p_task, p_user, p_actor, p_now, p_kind, p_text);
    RETURN 'stored';
END $$;
