-- Networks: how many answers of a task may count from one place on the Internet, and who may not answer at all.
--
-- The rule is about anonymous volunteers (c: and i:). Of each network at most project_ledger.counted_per_network answers of a
-- task count; 0 is no limit. A live lease reserves its network's share, so that an answer to it counts when it comes from the
-- same network. Counted answers and leases of a network make its share of a task (network_share); it is looked at under the
-- task's ledger row, as everything about a task. A task that everybody may answer (mode unlimited) is handed out to a network only as
-- often, too: there uncounted answers that came after the counted ones make the share as well.

-- Who asks for tasks. shared: their network where the rule applies, else null. Positions depend on the network then:
-- a volunteer's scans end in suffix, and also start from the positions of n:<network>. every: whether uncounted answers make the
-- share, too. actors: those of the person (23_same_person.sql), whose answers count as theirs.
CREATE TYPE asker AS (actor text, network text, shared text, suffix text, every boolean, actors text[]);

CREATE FUNCTION asker_of(p project_ledger, p_actors text[], p_network text) RETURNS asker LANGUAGE plpgsql AS $$
DECLARE v asker;
BEGIN
    IF p.counted_per_network > 0 AND p_network <> '' AND p_actors[1] ~ '^[ci]:' THEN
        v := (p_actors[1], p_network, p_network, '@' || p_network, mode_of(p.sched) = 'unlimited', p_actors);
    ELSE
        v := (p_actors[1], coalesce(p_network, ''), NULL, '', false, p_actors);
    END IF;
    RETURN v;
END $$;

-- How much of a task a network has: its counted answers and the leases of its anonymous volunteers. (grant_lease and submit
-- count the same within statements of their own, for the sake of cost.)
CREATE FUNCTION network_share(p_project bigint, p_task bigint, p_network text, p_every boolean) RETURNS int STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT count(*) FROM task_run WHERE user_ip = p_network AND project_id + 0 = p_project AND -task_id = -p_task
                                            AND (counted OR p_every AND aside IS NULL))
         + (SELECT count(*) FROM lease WHERE network = p_network AND project_id + 0 = p_project AND -task_id = -p_task AND actor ~ '^[ci]:');
END $$;

-- Whether the caller's network has its share of a task; false where the rule does not apply.
CREATE FUNCTION share_taken(p project_ledger, v asker, p_task bigint) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN v.shared IS NOT NULL AND network_share(p.project_id, p_task, v.shared, v.every) >= p.counted_per_network;
END $$;

-- Whether open tasks are left that the caller could answer, had their network not its share of them. It looks at two hundred open tasks.
CREATE FUNCTION network_is_done(p project_ledger, v asker) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN v.shared IS NOT NULL AND EXISTS (
        SELECT FROM (SELECT task_id FROM task_ledger WHERE project_id = p.project_id AND open ORDER BY rank, task_id LIMIT 200) l
         WHERE NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = p.project_id AND r.task_id = l.task_id AND r.actor = ANY (v.actors))
           AND share_taken(p, v, l.task_id));
END $$;

-- Counts the oldest uncounted answers of a task, at most p_free: not those that were set aside, those of volunteers who were no
-- better than chance, nor those whose network has its share. The caller holds the ledger row. Returns how many.
CREATE FUNCTION count_late(p_project bigint, p_task bigint, p_free int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; k int := 0; maximum int := (SELECT counted_per_network FROM project_ledger WHERE project_id = p_project);
BEGIN
    FOR r IN SELECT id, user_ip FROM task_run
              WHERE project_id = p_project AND task_id = p_task AND NOT counted AND aside IS NULL AND NOT unreliable ORDER BY id LOOP
        EXIT WHEN k = p_free;
        CONTINUE WHEN maximum > 0 AND r.user_ip IS NOT NULL AND network_share(p_project, p_task, r.user_ip, false) >= maximum;
        UPDATE task_run SET counted = true WHERE project_id = p_project AND id = r.id;
        k := k + 1;
    END LOOP;
    RETURN k;
END $$;

-- How many uncounted answers of a task count_late would count if there were places for all; p_but: as if this volunteer had
-- neither answers nor leases there.
CREATE FUNCTION countable(p_project bigint, p_task bigint, p_but text DEFAULT '') RETURNS int STABLE LANGUAGE sql AS $$
SELECT coalesce(sum(CASE WHEN l.user_ip IS NULL OR p.counted_per_network = 0 THEN l.n ELSE least(l.n, greatest(0, p.counted_per_network
           - (SELECT count(*) FROM task_run x WHERE x.user_ip = l.user_ip AND x.project_id + 0 = p_project AND -x.task_id = -p_task
                 AND x.counted AND x.actor <> p_but)
           - (SELECT count(*) FROM lease x WHERE x.network = l.user_ip AND x.project_id + 0 = p_project AND -x.task_id = -p_task
                 AND x.actor ~ '^[ci]:' AND x.actor <> p_but))) END), 0)::int
  FROM (SELECT user_ip, count(*) AS n FROM task_run
         WHERE project_id = p_project AND task_id = p_task AND NOT counted AND aside IS NULL AND NOT unreliable AND actor <> p_but GROUP BY 1) l,
       project_ledger p
 WHERE p.project_id = p_project $$;

-- What holds for all projects that say nothing themselves. Where it was raised, positions start over; stored answers that
-- may count now are counted by the next check of counters.
CREATE FUNCTION set_volunteer_rule(p_counted int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE volunteer_rule SET counted_per_network = p_counted WHERE counted_per_network <> p_counted;
    IF NOT FOUND THEN RETURN; END IF;                   -- the ledgers of projects follow it already
    UPDATE project_ledger l
       SET counted_per_network = n.maximum, epoch = epoch + (l.counted_per_network > 0 AND (n.maximum = 0 OR n.maximum > l.counted_per_network))::int
      FROM (SELECT id, counted_per_network_of(info) AS maximum FROM project) n
     WHERE n.id = l.project_id AND l.counted_per_network <> n.maximum;
END $$;

-- What holds in a project, by its info.
CREATE FUNCTION counted_per_network_of(p_info jsonb) RETURNS int STABLE LANGUAGE sql AS $$
SELECT CASE WHEN jsonb_typeof(p_info->'counted_per_network') = 'number' THEN least(greatest((p_info->>'counted_per_network')::numeric, 0), 1000000)::int
            ELSE (SELECT counted_per_network FROM volunteer_rule) END $$;
