-- Why somebody may not comment on the tasks of a project: paused, or what access_refusal says; null: they may.
CREATE FUNCTION comment_refusal(p_project bigint, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[], p_network text)
RETURNS text STABLE LANGUAGE plpgsql AS $$
DECLARE p project_ledger;
BEGIN
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project;
    RETURN coalesce(access_refusal(p, p_actor, p_user, p_admin, p_unlocked, p_network), CASE WHEN p.paused THEN 'paused' END);
END $$;

-- Whether a volunteer reads what others wrote about a task, and is read by them: they have answered it, the project shares comments, and shows
-- answers to everybody. While it has gold tasks, no task has shared comments: where some had none, they would be known.
CREATE FUNCTION shares_comments(p_project bigint, p_task bigint, p_actor text) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT p_actor NOT LIKE 'i:%' AND EXISTS (SELECT FROM project p WHERE p.id = p_project AND p.shared_comments AND p.zip_download AND NOT p.has_gold)
   AND EXISTS (SELECT FROM task_run r WHERE r.project_id = p_project AND r.task_id = p_task AND r.actor = ANY (actors_of(p_project, p_actor))) $$;

-- Whether a comment waits for an owner before others read it: it has a link, and its author has no account, or a new one.
CREATE FUNCTION holds_comment(p_text text, p_user bigint, p_now timestamptz) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT p_text ~* '://|www\.|\w\.(com|net|org|io|ru|xyz|info|biz)\M'
   AND NOT EXISTS (SELECT FROM account a WHERE a.id = p_user AND a.created <= p_now - interval '7 days') $$;

-- Stores a comment on a task. The lock makes comments on one project wait for each other, so that no two of them pass a limit
-- together; the key share lock makes the deletion of the task and the comment wait for each other. Returns stored (also for
-- what the same person wrote on the task within a day); daily or full (a limit is reached); no task; and the results of
-- comment_refusal.
CREATE FUNCTION comment_task(p_project bigint, p_task bigint, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[],
                             p_network text, p_kind text, p_text text, p_daily int, p_open int, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text;
BEGIN
    state := comment_refusal(p_project, p_actor, p_user, p_admin, p_unlocked, p_network);
    IF state IS NOT NULL THEN RETURN state; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('task_comment', p_project));
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR KEY SHARE;
    IF NOT FOUND THEN RETURN 'no task'; END IF;
    IF EXISTS (SELECT FROM task_comment c WHERE c.project_id = p_project AND c.actor = p_actor AND c.created > p_now - interval '1 day'
                  AND c.task_id = p_task AND c.text = p_text) THEN RETURN 'stored'; END IF;
    IF (SELECT count(*) FROM task_comment c WHERE c.project_id = p_project AND c.actor = p_actor
           AND c.created > p_now - interval '1 day') >= p_daily THEN RETURN 'daily'; END IF;
    IF (SELECT count(*) FROM task_comment c WHERE c.project_id = p_project AND NOT c.settled) >= p_open THEN RETURN 'full'; END IF;
    PERFORM volunteer_word(p_project, p_actor);
    INSERT INTO task_comment (project_id, task_id, user_id, actor, created, kind, text, shared, state)
    SELECT p_project, p_task, p_user, p_actor, p_now, p_kind, p_text, s, CASE WHEN s AND holds_comment(p_text, p_user, p_now) THEN 'held' ELSE 'shown' END
      FROM shares_comments(p_project, p_task, p_actor) s;
    RETURN 'stored';
END $$;

-- Notes that a volunteer who reads a comment reports it, once; the third report holds it back until an owner looks at it, unless one has approved
-- it. Returns whether there is such a comment for them.
CREATE FUNCTION report_comment(p_project bigint, p_task bigint, p_comment bigint, p_actor text, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM task_comment c WHERE c.project_id = p_project AND c.id = p_comment AND c.task_id = p_task AND c.shared AND NOT c.by_owner
        AND c.state IN ('shown', 'approved', 'held') AND c.actor <> p_actor AND shares_comments(p_project, p_task, p_actor) FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO comment_report (comment_id, actor, created) VALUES (p_comment, p_actor, p_now) ON CONFLICT DO NOTHING;
    UPDATE task_comment SET settled = false, state = 'held' WHERE project_id = p_project AND id = p_comment AND state = 'shown'
       AND (SELECT count(*) FROM comment_report r WHERE r.comment_id = p_comment) >= 3;
    RETURN true;
END $$;

-- Moves the comments of p_from to p_to, the account p_user. Owners then see them with the code of its answers.
CREATE FUNCTION move_comments(p_project bigint, p_from text, p_to text, p_user bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE task_comment SET actor = p_to, user_id = p_user WHERE project_id = p_project AND actor = p_from;
    IF FOUND THEN PERFORM move_word(p_project, p_from, p_to); END IF;
END $$;

-- Stores the answer of an owner to a comment, which is done with that, and tells its author if they have an account. Returns stored, none (there is
-- no such comment) or full (it has p_maximum answers).
CREATE FUNCTION reply_to_comment(p_project bigint, p_comment bigint, p_user bigint, p_text text, p_maximum int, p_now timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE c task_comment; made bigint;
BEGIN
    SELECT * INTO c FROM task_comment WHERE project_id = p_project AND id = p_comment AND reply_to IS NULL FOR UPDATE;
    IF NOT FOUND THEN RETURN 'none'; END IF;
    IF EXISTS (SELECT FROM task_comment WHERE reply_to = c.id AND user_id = p_user AND text = p_text) THEN RETURN 'stored'; END IF;
    IF (SELECT count(*) FROM task_comment WHERE reply_to = c.id) >= p_maximum THEN RETURN 'full'; END IF;
    PERFORM volunteer_word(p_project, 'u:' || p_user);
    INSERT INTO task_comment (project_id, task_id, user_id, actor, created, kind, text, settled, reply_to, by_owner, shared)
    VALUES (p_project, c.task_id, p_user, 'u:' || p_user, p_now, 'remark', p_text, true, c.id, true, c.shared) RETURNING id INTO made;
    UPDATE task_comment SET settled = true WHERE project_id = p_project AND id = c.id AND NOT settled;
    IF c.user_id <> p_user THEN PERFORM add_notice(p_project, 'reply', p_now, made, c.user_id); END IF;
    RETURN 'stored';
END $$;
