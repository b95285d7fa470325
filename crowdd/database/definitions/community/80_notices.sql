-- News: what projects tell those who answered in them, and what one person is told.

-- Adds a notice. Without a subject there is one of a kind in a project and week, however often the project changes. One that is there stays.
CREATE FUNCTION add_notice(p_project bigint, p_kind text, p_now timestamptz, p_subject bigint DEFAULT NULL, p_user bigint DEFAULT NULL)
RETURNS void LANGUAGE sql AS $$
INSERT INTO notice (project_id, user_id, kind, subject, created)
VALUES (p_project, p_user, p_kind, coalesce(p_subject, extract(epoch FROM p_now)::bigint / 604800), p_now) ON CONFLICT DO NOTHING $$;

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
   AND CASE n.kind WHEN 'post' THEN EXISTS (SELECT FROM blogpost b WHERE b.id = n.subject AND b.project_id = n.project_id AND b.published)
                   WHEN 'reply' THEN EXISTS (SELECT FROM task_comment c WHERE c.id = n.subject) ELSE true END
 ORDER BY n.created DESC, n.id DESC LIMIT p_maximum $$;
