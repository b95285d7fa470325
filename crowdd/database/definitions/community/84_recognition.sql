-- Recognition: what people gave, in time. An answer to a long question is not one click: on leaderboards each answer of a project is worth the median
-- time of its answers, so that neither hurry nor idling pays.

-- How long somebody was at an answer, as far as it is certified: at most from handing out to answer, and at most half an hour.
CREATE FUNCTION given_seconds(p_circumstances jsonb, p_created timestamptz, p_finished timestamptz) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
SELECT greatest(least(active_seconds(p_circumstances, p_created, p_finished), extract(epoch FROM p_finished - p_created)::float8, 1800), 0) $$;

-- What a person gave in each project of others and month, in their newest p_maximum answers and within some days (in UTC). At most twelve hours of a
-- day count. n_read: how many answers were read, whether or not in these days; since: the day of the first.
CREATE FUNCTION given_by(p_user bigint, p_first date, p_last date, p_maximum int)
RETURNS TABLE (project_id bigint, month date, answers bigint, seconds float8, n_read bigint, since date) STABLE LANGUAGE sql AS $$
WITH run AS MATERIALIZED (
    SELECT r.project_id, day_of(r.finish_time) AS day, given_seconds(r.circumstances, r.created, r.finish_time) AS seconds
      FROM task_run r WHERE r.user_id = p_user AND NOT r.trial ORDER BY r.id DESC LIMIT p_maximum),
day AS (SELECT r.project_id, r.day, count(*) AS answers, sum(r.seconds) AS seconds FROM run r WHERE r.day BETWEEN p_first AND p_last
           AND NOT EXISTS (SELECT FROM project p WHERE p.id = r.project_id AND p.owners_ids @> ARRAY[p_user]) GROUP BY 1, 2),
fair AS (SELECT d.*, least(1, 43200 / nullif(sum(d.seconds) OVER (PARTITION BY d.day), 0)) AS share FROM day d)
SELECT f.project_id, date_trunc('month', f.day)::date, sum(f.answers)::bigint, coalesce(sum(f.seconds * f.share), 0)::float8, (SELECT count(*) FROM run),
       (SELECT min(r.day) FROM run r)
  FROM fair f GROUP BY 1, 2 $$;

-- Measures again how long answers take, in up to p_maximum projects that have clearly more answers than before. Answers
-- that came with an export say nothing of it: zero where there are no others. Returns in how many.
CREATE FUNCTION measure_paces(p_maximum int DEFAULT 200) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    WITH due AS MATERIALIZED (
        SELECT l.project_id, s.runs_anonymous + s.runs_authenticated AS runs FROM project_ledger l
          JOIN project_stat s ON s.project_id = l.project_id LEFT JOIN project_pace p ON p.project_id = l.project_id
         WHERE NOT l.trial AND s.runs_anonymous + s.runs_authenticated > 0
           AND (p.runs IS NULL OR p.runs <> s.runs_anonymous + s.runs_authenticated
                AND (p.runs < 500 OR abs(s.runs_anonymous + s.runs_authenticated - p.runs) > p.runs / 10)) LIMIT p_maximum)
    INSERT INTO project_pace AS p (project_id, seconds, runs)
    SELECT d.project_id, coalesce(m.seconds, 0), d.runs FROM due d CROSS JOIN LATERAL (
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY given_seconds(r.circumstances, r.created, r.finish_time)) AS seconds
          FROM (SELECT * FROM task_run x WHERE x.project_id = d.project_id AND NOT x.trial AND x.origin IS NULL ORDER BY x.id DESC LIMIT 500) r) m
     WHERE EXISTS (SELECT FROM project x WHERE x.id = d.project_id)
     ORDER BY 1 ON CONFLICT (project_id) DO UPDATE SET seconds = excluded.seconds, runs = excluded.runs;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;

-- The first day of this week (a Monday, in UTC).
CREATE FUNCTION week_of(p_now timestamptz) RETURNS date IMMUTABLE LANGUAGE sql AS $$ SELECT date_trunc('week', p_now AT TIME ZONE 'UTC')::date $$;

-- Counts the leaderboards: the first hundred of the site by time, of all time and of this week, and the first fifty of each project this week. Reads folded
-- rows: of each pair of project and volunteer, and of each day of the week. Left out are answers of owners in their own projects, those who wish to be
-- on no leaderboard, and blocked people.
CREATE FUNCTION count_boards(p_now timestamptz DEFAULT clock()) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    WITH lately AS MATERIALIZED (
        SELECT v.project_id, substr(v.actor, 3)::bigint AS user_id, sum(v.runs)::bigint AS answers, sum(v.runs) * p.seconds AS seconds
          FROM volunteer_day v JOIN project_pace p ON p.project_id = v.project_id JOIN project x ON x.id = v.project_id AND x.first_published IS NOT NULL
         WHERE v.day >= week_of(p_now) AND v.actor LIKE 'u:%' AND NOT x.owners_ids @> ARRAY[substr(v.actor, 3)::bigint]
         GROUP BY 1, 2, p.seconds HAVING sum(v.runs) > 0
    ), everything AS (
        SELECT substr(v.actor, 3)::bigint AS user_id, sum(v.runs)::bigint AS answers, sum(v.runs * p.seconds) AS seconds
          FROM volunteer v JOIN project_pace p ON p.project_id = v.project_id JOIN project x ON x.id = v.project_id AND x.first_published IS NOT NULL
         WHERE v.actor LIKE 'u:%' AND v.runs > 0 AND NOT x.owners_ids @> ARRAY[substr(v.actor, 3)::bigint] GROUP BY 1
    ), hidden AS MATERIALIZED (
        SELECT a.id FROM account a WHERE a."restrict" UNION ALL SELECT a.id FROM account a WHERE a.off_boards
    ), ever AS MATERIALIZED (
        SELECT 0::bigint AS project_id, false AS week, e.user_id, e.answers, e.seconds FROM everything e
         WHERE e.user_id NOT IN (SELECT h.id FROM hidden h) ORDER BY e.seconds DESC, e.user_id LIMIT 100
    ), this_week AS MATERIALIZED (
        SELECT 0::bigint AS project_id, true AS week, y.user_id, sum(y.answers)::bigint AS answers, sum(y.seconds) AS seconds FROM lately y
         WHERE y.user_id NOT IN (SELECT h.id FROM hidden h) GROUP BY 3 ORDER BY 5 DESC, 3 LIMIT 100
    ), of_projects AS (
        SELECT y.project_id, true AS week, y.user_id, y.answers, y.seconds,
               row_number() OVER (PARTITION BY y.project_id ORDER BY y.seconds DESC, y.user_id) AS nth
          FROM lately y WHERE y.user_id NOT IN (SELECT h.id FROM hidden h)
    ), best AS MATERIALIZED (
        SELECT t.* FROM (SELECT * FROM ever UNION ALL SELECT * FROM this_week UNION ALL
                         SELECT o.project_id, o.week, o.user_id, o.answers, o.seconds FROM of_projects o WHERE o.nth <= 50) t
          JOIN account a ON a.id = t.user_id
    ), gone AS (
        DELETE FROM board_place b WHERE NOT EXISTS (SELECT FROM best x WHERE (x.project_id, x.week, x.user_id) = (b.project_id, b.week, b.user_id))
    )
    INSERT INTO board_place AS b (project_id, week, user_id, answers, seconds) SELECT * FROM best ORDER BY 1, 2, 3
        ON CONFLICT (project_id, week, user_id) DO UPDATE SET answers = excluded.answers, seconds = excluded.seconds
        WHERE (b.answers, b.seconds) <> (excluded.answers, excluded.seconds);
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;

-- The members of a group with their time: each answer given as a member is worth the mean of what all their answers are.
CREATE FUNCTION time_of_members(p_group bigint) RETURNS TABLE (id bigint, name text, answers bigint, seconds float8, named boolean) STABLE LANGUAGE sql AS $$
WITH worth AS (
    SELECT v.actor, sum(v.runs * p.seconds) / nullif(sum(v.runs), 0) AS each FROM volunteer v JOIN project_pace p ON p.project_id = v.project_id
     WHERE v.actor = ANY (ARRAY(SELECT g.actor FROM group_member g WHERE g.group_id = p_group)) AND v.runs > 0 GROUP BY 1)
SELECT m.id, m.name, x.answers, coalesce(x.answers * w.each, 0)::float8, NOT m.off_board AND NOT coalesce(a.off_boards, false)
  FROM members_of(p_group) x JOIN group_member m ON m.id = x.id LEFT JOIN account a ON a.id = m.user_id LEFT JOIN worth w ON w.actor = m.actor
 ORDER BY 4 DESC, 3 DESC, m.id $$;
