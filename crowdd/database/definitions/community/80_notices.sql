-- News: what projects tell those who answered in them, and what one person is told.

-- Adds a notice. Without a subject there is one of a kind in a project and week, however often the project changes. One that is there stays.
CREATE FUNCTION add_notice(p_project bigint, p_kind text, p_now timestamptz, p_subject bigint DEFAULT NULL, p_user bigint DEFAULT NULL)
RETURNS void LANGUAGE sql AS $$
INSERT INTO notice (project_id, user_id, kind, subject, created)
VALUES (p_project, p_user, p_kind, coalesce(p_subject, extract(epoch FROM p_now)::bigint / 604800), p_now) ON CONFLICT DO NOTHING $$;

-- Makes a letter of a post: its whole text goes along with the next weekly e-mails. When a project has sent one in seven days, the time at which
-- it may send the next; null when it is sent.
CREATE FUNCTION send_letter(p_project bigint, p_post bigint, p_now timestamptz) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    again timestamptz;
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;  -- of two owners one is first
    SELECT next_letter(p_project, p_now) INTO again;
    IF again IS NOT NULL THEN RETURN again; END IF;
    DELETE FROM notice WHERE project_id = p_project AND kind IN ('post', 'letter') AND subject = p_post;
    PERFORM add_notice(p_project, 'letter', p_now, p_post);
    RETURN NULL;
END $$;

-- When a project may send its next letter; null: now.
CREATE FUNCTION next_letter(p_project bigint, p_now timestamptz) RETURNS timestamptz STABLE LANGUAGE sql AS $$
SELECT max(created) + interval '7 days' FROM notice
 WHERE project_id = p_project AND user_id IS NULL AND kind = 'letter' AND created > p_now - interval '7 days' $$;

-- How many people a letter of a project reaches, at most p_maximum: they answered, do not own the project, agreed to e-mails, have a confirmed
-- address, and have neither muted the project nor left out what projects write.
CREATE FUNCTION letter_readers(p_project bigint, p_maximum int) RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT count(*) FROM (
    SELECT FROM account a JOIN project p ON p.id = p_project
     WHERE a.subscribed AND a.valid_email AND NOT a."restrict" AND NOT a.digest_without @> '{post}' AND NOT p.owners_ids @> ARRAY[a.id]
       AND EXISTS (SELECT FROM volunteer v WHERE v.project_id = p_project AND v.actor = 'u:' || a.id AND v.runs > 0)
       AND NOT EXISTS (SELECT FROM muted_project m WHERE m.user_id = a.id AND m.project_id = p_project)
     LIMIT p_maximum) r $$;

-- The projects in which a person answered, and how often, the newest projects first.
CREATE FUNCTION helped_projects(p_user bigint, p_maximum int) RETURNS TABLE (project_id bigint, own bigint) STABLE LANGUAGE sql AS $$
SELECT r.project_id, sum(r.runs)::bigint
  FROM (SELECT v.project_id, v.runs FROM volunteer v WHERE v.actor = 'u:' || p_user UNION ALL
        SELECT d.project_id, d.runs FROM stat_delta d WHERE d.xact >= (SELECT unfolded_from()) AND d.actor = 'u:' || p_user) r
 GROUP BY 1 HAVING sum(r.runs) > 0 ORDER BY 1 DESC LIMIT p_maximum $$;

-- What a person is told of what happened after p_after and until p_until, the newest first, at most three of a project and p_maximum in all: of
-- projects that they helped, do not own and have not muted, and answers to their comments. p_unlocked: the locks of projects that they opened.
CREATE FUNCTION news_of(p_user bigint, p_unlocked text[], p_after timestamptz, p_until timestamptz, p_maximum int) RETURNS TABLE (
    id bigint, kind text, created timestamptz, subject bigint, project_id bigint, own bigint) STABLE LANGUAGE sql AS $$
SELECT n.id, n.kind, n.created, n.subject, n.project_id, n.own
  FROM (SELECT x.*, h.own FROM helped_projects(p_user, 1000) h CROSS JOIN LATERAL (
            SELECT * FROM notice x WHERE x.project_id = h.project_id AND x.user_id IS NULL AND x.created > p_after AND x.created <= p_until
             ORDER BY x.id DESC LIMIT 3) x
         WHERE NOT EXISTS (SELECT FROM muted_project m WHERE m.user_id = p_user AND m.project_id = h.project_id)
        UNION ALL
        (SELECT x.*, 0 FROM notice x WHERE x.user_id = p_user AND x.created > p_after AND x.created <= p_until ORDER BY x.id DESC LIMIT p_maximum)) n
  JOIN project p ON p.id = n.project_id
 WHERE p.first_published IS NOT NULL AND (p.lock_id IS NULL OR p.lock_id = ANY (p_unlocked))
   AND (n.user_id IS NOT NULL OR p.owner_id <> p_user AND NOT p.owners_ids @> ARRAY[p_user]) AND (n.kind <> 'resumed' OR p.published)
   AND CASE WHEN n.kind IN ('post', 'letter') THEN EXISTS (SELECT FROM blogpost b WHERE b.id = n.subject AND b.project_id = n.project_id AND b.published)
            WHEN n.kind = 'reply' THEN EXISTS (SELECT FROM task_comment c WHERE c.id = n.subject) ELSE true END
 ORDER BY n.created DESC, n.id DESC LIMIT p_maximum $$;
