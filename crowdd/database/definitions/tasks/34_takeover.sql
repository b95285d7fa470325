-- Soft leases: nobody is left without a task because others hold more than they can be at.
--
-- Firm are the two oldest leases of a volunteer and the twenty oldest of a network (firm_of_volunteer, firm_of_network). The
-- others are marked when they are granted (lease.soft) and found by an index. Older leases only go, so a lease only becomes
-- firmer: a statement that meets one that is firm by now unmarks it. A volunteer who is given nothing, and holds nothing, takes a soft one over:
-- one beyond those of its volunteer always; one beyond those of its network only where their own will be firm, or the two would
-- take it from each other again and again. Who loses it may still answer, as after a lease that has lapsed.

-- What is left of a lease's softness: 0 it is firm by now, and no longer marked. The caller holds the ledger row.
CREATE FUNCTION softness(l lease) RETURNS int LANGUAGE plpgsql AS $$
DECLARE s int := l.soft;
BEGIN
    IF s = 2 AND (SELECT count(*) FROM lease WHERE project_id = l.project_id AND actor = l.actor AND id < l.id) < firm_of_volunteer() THEN s := 1; END IF;
    IF s = 1 AND older_of_network(l.project_id, l.network, l.id) < firm_of_network() THEN s := 0; END IF;
    IF s <> l.soft THEN
        UPDATE lease SET soft = s WHERE project_id = l.project_id AND actor = l.actor AND task_id = l.task_id;
    END IF;
    RETURN s;
END $$;

-- Gives the caller, who holds nothing, a task that they have as another of their actors (23_same_person.sql), or that somebody else has by a
-- soft lease. It looks at the latest 1,000 of these and tries at most 20. busy: one of them was locked; ended: leases that ended, also where a late answer got the place. Waits for
-- nobody.
CREATE FUNCTION take_over(p project_ledger, v asker, p_now timestamptz, OUT task bigint, OUT busy boolean, OUT ended int) LANGUAGE plpgsql AS $$
DECLARE c record; l lease; t task_ledger; s int; room boolean; others text[] := v.actors[2:];
BEGIN
    busy := false; ended := 0;
    FOR c IN SELECT h.* FROM (SELECT * FROM lease WHERE project_id = p.project_id AND actor = ANY (others) UNION ALL
                              (SELECT * FROM lease WHERE project_id + 0 = p.project_id AND soft > 0 ORDER BY soft DESC, id DESC LIMIT 1000)) h
              WHERE h.actor <> v.actor
                AND NOT EXISTS (SELECT FROM task_run x WHERE x.project_id = p.project_id AND x.task_id = h.task_id AND x.actor = ANY (v.actors))
                AND (SELECT x.skipped FROM expired_lease x WHERE x.project_id = p.project_id AND x.actor = v.actor AND x.task_id = h.task_id) IS NOT TRUE
                AND (v.shared IS NULL OR network_share(p.project_id, h.task_id, v.shared, v.every) - of_network(h.actor, h.network, v.shared) < p.counted_per_network)
              LIMIT 20 LOOP
        SELECT * INTO t FROM task_ledger WHERE project_id = p.project_id AND task_id = c.task_id FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN busy := true; CONTINUE; END IF;
        CONTINUE WHEN t.retired OR t.mode = 'unlimited' OR t.answers >= t.n_answers;
        SELECT * INTO l FROM lease WHERE project_id = p.project_id AND actor = c.actor AND task_id = c.task_id AND id = c.id;
        CONTINUE WHEN NOT FOUND OR EXISTS (SELECT FROM task_run x WHERE x.project_id = p.project_id AND x.task_id = c.task_id AND x.actor = ANY (v.actors))
            OR v.shared IS NOT NULL AND network_share(p.project_id, c.task_id, v.shared, v.every) - of_network(l.actor, l.network, v.shared) >= p.counted_per_network;
        s := CASE WHEN l.actor = ANY (others) THEN 3 ELSE softness(l) END;
        IF s = 1 AND room IS NULL THEN room := older_of_network(p.project_id, v.network, NULL) < firm_of_network(); END IF;
        CONTINUE WHEN s = 0 OR s = 1 AND NOT room;
        PERFORM end_lease(p.project_id, l.actor, l.task_id, 'infinity', p_now, false, p_now);
        IF p.n_gold > 0 THEN PERFORM lease_placeless(p.project_id, l.actor, l.task_id, l.granted, l.expires); END IF;
        ended := ended + 1;
        IF grant_lease(p, v, l.task_id, 0, false, NULL, p_now) THEN task := l.task_id; RETURN; END IF;
    END LOOP;
END $$;

-- 1 where a lease is part of the share of a network, else 0.
CREATE FUNCTION of_network(p_actor text, p_network text, p_shared text) RETURNS int IMMUTABLE LANGUAGE sql AS $$
SELECT (p_network = p_shared AND p_actor ~ '^[ci]:')::int $$;
