-- Groups: where their guests stand for the rule about networks, and what their members have done.

-- Whether a group still is one: on its last day, too.
CREATE FUNCTION group_lasts(p_last_day date, p_now timestamptz) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
SELECT p_last_day >= (p_now AT TIME ZONE 'UTC')::date $$;

-- For each pair of a guest and a project: who owns their group (id), and which of its networks the guest is in there, from 0; nulls for those who are
-- in no group now. A group has as many networks as the project counts answers of a group, at most one for each of its members, and each has the share
-- of a network. So the answers that count are at most counted_per_group, or counted_per_network where that is more. The groups of one person share them.
CREATE FUNCTION networks_of_guests(p_actors text[], p_projects bigint[]) RETURNS TABLE (id bigint, network int) STABLE LANGUAGE sql AS $$
SELECT f.owner_id, f.network
  FROM unnest(p_actors, p_projects) WITH ORDINALITY q (actor, project, nth)
  LEFT JOIN LATERAL (
    SELECT g.owner_id, m.seat % greatest(1, least(g.size, p.counted_per_group) / greatest(1, l.counted_per_network)) AS network
      FROM group_member m JOIN volunteer_group g ON g.id = m.group_id AND group_lasts(g.last_day, clock())
      JOIN project p ON p.id = q.project JOIN project_ledger l ON l.project_id = q.project
     WHERE m.actor = q.actor AND m.user_id IS NULL LIMIT 1) f ON true
 ORDER BY q.nth $$;

-- How many answers volunteers gave, in projects that are no drafts. Who gave none is left out.
CREATE FUNCTION answers_of(p_actors text[]) RETURNS TABLE (actor text, answers bigint) STABLE LANGUAGE sql AS $$
SELECT r.actor, sum(r.runs)::bigint FROM (
    SELECT v.actor, v.project_id, v.runs FROM volunteer v WHERE v.actor = ANY (p_actors) UNION ALL
    SELECT d.actor, d.project_id, d.runs FROM stat_delta d WHERE d.xact >= (SELECT unfolded_from()) AND d.actor = ANY (p_actors)) r
  JOIN project_ledger l ON l.project_id = r.project_id AND NOT l.trial
 GROUP BY 1 $$;

-- The members of a group and how many answers each gave as a member, in the order in which they joined.
CREATE FUNCTION members_of(p_group bigint) RETURNS TABLE (id bigint, name text, guest boolean, joined timestamptz, answers bigint) STABLE LANGUAGE sql AS $$
SELECT m.id, m.name, m.user_id IS NULL, m.joined, greatest(coalesce(a.answers, 0) - m.answers_before, 0)
  FROM group_member m LEFT JOIN answers_of(ARRAY(SELECT actor FROM group_member WHERE group_id = p_group)) a ON a.actor = m.actor
 WHERE m.group_id = p_group ORDER BY m.id $$;

-- How long somebody was at an answer: as their page told it, otherwise from handing out to answer, at most two minutes of it.
CREATE FUNCTION active_seconds(p_circumstances jsonb, p_created timestamptz, p_finished timestamptz) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
SELECT coalesce((p_circumstances->>'seconds_active')::float8, least(greatest(extract(epoch FROM p_finished - p_created)::float8, 0), 120)) $$;
