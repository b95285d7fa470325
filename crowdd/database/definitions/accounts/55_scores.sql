-- Scores and ranks of people. A score is the number of a person's answers in published projects. Equal scores share a
-- rank, and blocked people have none. Ranks come from score_count, corrected by the people with unfolded rows.

-- Scores, including those of blocked people.
CREATE VIEW score AS
SELECT user_id, sum(runs)::bigint AS runs
  FROM (SELECT user_id, runs FROM person_stat UNION ALL SELECT user_id, runs FROM stat_delta WHERE user_id IS NOT NULL AND xact >= (SELECT unfolded_from())) s GROUP BY 1;

-- The scores of these people. The view would be summed up for everybody first.
CREATE FUNCTION scores_of(p_users bigint[]) RETURNS TABLE (user_id bigint, runs bigint) STABLE LANGUAGE sql AS $$
SELECT s.user_id, sum(s.runs)::bigint FROM (
    SELECT p.user_id, p.runs FROM person_stat p WHERE p.user_id = ANY (p_users) UNION ALL
    SELECT d.user_id, d.runs FROM stat_delta d WHERE d.user_id = ANY (p_users) AND d.xact >= (SELECT unfolded_from())) s GROUP BY 1 $$;

-- People with unfolded rows: the score under which they are counted, and their current score. Null while they are not
-- visible.
CREATE VIEW unfolded_person AS
SELECT d.user_id, CASE WHEN s.shown THEN s.runs END AS folded, CASE WHEN NOT a."restrict" THEN coalesce(s.runs, 0) + d.runs END AS runs
  FROM (SELECT user_id, sum(runs)::bigint AS runs FROM stat_delta
         WHERE user_id IS NOT NULL AND xact >= (SELECT unfolded_from()) GROUP BY 1) d
  LEFT JOIN person_stat s USING (user_id) LEFT JOIN account a ON a.id = d.user_id;

-- How many people have a higher score according to the folded tables: in each level, the buckets beside and above its
-- own, up to the end of the bucket one level up.
CREATE FUNCTION folded_above(p_score bigint) RETURNS bigint STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (
SELECT coalesce(sum(people), 0)::bigint FROM (
    SELECT people FROM score_count WHERE level = 0 AND bucket > p_score AND bucket <= (p_score | 63) UNION ALL
    SELECT people FROM score_count WHERE level = 1 AND bucket > p_score >> 6 AND bucket <= ((p_score >> 6) | 63) UNION ALL
    SELECT people FROM score_count WHERE level = 2 AND bucket > p_score >> 12 AND bucket <= ((p_score >> 12) | 63) UNION ALL
    SELECT people FROM score_count WHERE level = 3 AND bucket > p_score >> 18) above); END $$;

-- A person's score and rank (null if they wish to be on no leaderboard), and how many people are shown. PL/pgSQL keeps the plan, and planning costs more than the rest.
CREATE FUNCTION place_of(p_user bigint, OUT score bigint, OUT rank bigint, OUT total bigint) STABLE LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
WITH u AS MATERIALIZED (SELECT * FROM unfolded_person),
me AS (SELECT coalesce((SELECT runs FROM person_stat WHERE user_id = p_user), 0)
            + coalesce((SELECT sum(runs) FROM stat_delta WHERE user_id = p_user AND xact >= (SELECT unfolded_from())), 0)::bigint AS score)
SELECT score, CASE WHEN NOT EXISTS (SELECT FROM account a WHERE a.id = p_user AND a.off_boards)
                   THEN 1 + folded_above(score) + (SELECT count(*) FILTER (WHERE runs > score) - count(*) FILTER (WHERE folded > score) FROM u) END,
       folded_above(-1) + (SELECT count(runs) - count(folded) FROM u) INTO score, rank, total FROM me;
END $$;

-- How many people with an account have a score, whether or not they are blocked: their answers are counted, too.
CREATE FUNCTION people_with_answers() RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT folded_above(0) + (SELECT count(*) FILTER (WHERE runs > 0) - count(*) FILTER (WHERE folded > 0) FROM unfolded_person)
     + (SELECT count(*) FROM account a WHERE a."restrict"
           AND coalesce((SELECT runs FROM person_stat WHERE user_id = a.id), 0)
             + coalesce((SELECT sum(runs) FROM stat_delta WHERE user_id = a.id AND xact >= (SELECT unfolded_from())), 0) > 0) $$;

-- The people with the highest scores, and their ranks. Those who wish to be on no leaderboard keep their rank, and are not told: where most of three times
-- as many people wish it, the list is shorter.
CREATE FUNCTION top_people(p_maximum int) RETURNS TABLE (user_id bigint, score bigint, rank bigint) STABLE LANGUAGE sql AS $$
WITH u AS MATERIALIZED (SELECT * FROM unfolded_person),
best AS (SELECT user_id, runs FROM person_stat WHERE shown AND runs > 0 ORDER BY runs DESC, user_id LIMIT 3 * p_maximum + (SELECT count(*) FROM u))
SELECT r.* FROM (
    SELECT user_id, runs, rank() OVER (ORDER BY runs DESC) FROM (
        SELECT user_id, runs FROM best b WHERE NOT EXISTS (SELECT FROM u WHERE u.user_id = b.user_id) UNION ALL
        SELECT user_id, runs FROM u WHERE runs > 0) t ORDER BY runs DESC, user_id LIMIT 3 * p_maximum) r
 WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = r.user_id AND a.off_boards) ORDER BY r.runs DESC, r.user_id LIMIT p_maximum $$;

-- A person with up to p_window people before and after, in the order of all people who have answered, without those who wish to be on no leaderboard.
CREATE FUNCTION people_around(p_user bigint, p_window int) RETURNS TABLE (user_id bigint, score bigint, rank bigint) STABLE LANGUAGE sql AS $$
WITH u AS MATERIALIZED (SELECT * FROM unfolded_person),
me AS MATERIALIZED (SELECT score FROM place_of(p_user)),
n AS (SELECT p_window + count(*) AS maximum FROM u),
near AS (
    (SELECT user_id, runs FROM person_stat WHERE shown AND runs > 0 AND runs = (SELECT score FROM me) AND user_id < p_user
      ORDER BY runs, user_id DESC LIMIT (SELECT maximum FROM n)) UNION ALL
    (SELECT user_id, runs FROM person_stat WHERE shown AND runs > 0 AND runs > (SELECT score FROM me)
      ORDER BY runs, user_id DESC LIMIT (SELECT maximum FROM n)) UNION ALL
    (SELECT user_id, runs FROM person_stat WHERE shown AND runs > 0 AND runs = (SELECT score FROM me) AND user_id > p_user
      ORDER BY runs DESC, user_id LIMIT (SELECT maximum FROM n)) UNION ALL
    (SELECT user_id, runs FROM person_stat WHERE shown AND runs > 0 AND runs < (SELECT score FROM me)
      ORDER BY runs DESC, user_id LIMIT (SELECT maximum FROM n))),
everybody AS (
    SELECT user_id, runs FROM near WHERE user_id <> p_user AND NOT EXISTS (SELECT FROM u WHERE u.user_id = near.user_id) UNION ALL
    SELECT user_id, runs FROM u WHERE runs > 0 AND user_id <> p_user),
list AS MATERIALIZED (
    (SELECT e.user_id, e.runs FROM everybody e, me WHERE (e.runs, -e.user_id) > (me.score, -p_user) ORDER BY e.runs, e.user_id DESC LIMIT p_window) UNION ALL
    (SELECT p_user, score FROM me) UNION ALL
    (SELECT e.user_id, e.runs FROM everybody e, me WHERE (e.runs, -e.user_id) < (me.score, -p_user) ORDER BY e.runs DESC, e.user_id LIMIT p_window)),
first AS MATERIALIZED (SELECT max(runs) AS runs FROM list),
above AS (                                              -- the list begins amid people of equal score
    SELECT folded_above(f.runs) + (SELECT count(*) FILTER (WHERE u.runs > f.runs) - count(*) FILTER (WHERE u.folded > f.runs) FROM u) AS first,
           folded_above(f.runs - 1) + (SELECT count(*) FILTER (WHERE u.runs >= f.runs) - count(*) FILTER (WHERE u.folded >= f.runs) FROM u) AS others FROM first f)
SELECT r.* FROM (
    SELECT l.user_id, l.runs,
           CASE WHEN l.runs = f.runs THEN a.first + 1
                ELSE a.others + rank() OVER (ORDER BY l.runs DESC) - (SELECT count(*) FROM list x WHERE x.runs = f.runs) END
      FROM list l, first f, above a) r
 WHERE r.user_id = p_user OR NOT EXISTS (SELECT FROM account x WHERE x.id = r.user_id AND x.off_boards) ORDER BY r.runs DESC, r.user_id $$;
