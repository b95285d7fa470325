-- Asking for tasks: exact redundancy at a cost that does not grow with tasks, answers, or the answers of the volunteer.
-- Where a volunteer is in the order of the tasks, and how the next one is found: 32_candidate_scan.sql. What decides on that order:
-- schedulers, a file for each. What renews and ends a lease: 36_leases.sql.

-- How many leases are firm: others may take over those beyond (34_takeover.sql).
CREATE FUNCTION firm_of_volunteer() RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT 2 $$;
CREATE FUNCTION firm_of_network() RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT 20 $$;

-- Writes a lease of a task whose place is taken. used_up: the caller had all the time for it once.
CREATE FUNCTION new_lease(p project_ledger, v asker, p_task bigint, p_held int, p_used_up boolean, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lease (project_id, actor, task_id, granted, expires, network, soft)
    VALUES (p.project_id, v.actor, p_task, p_now, p_now + CASE p_held WHEN 0 THEN p.lease ELSE p.preload END, v.network,
            CASE WHEN p_used_up THEN 3 WHEN p_held >= firm_of_volunteer() THEN 2
                 WHEN v.network <> '' AND (SELECT count(*) FROM (SELECT FROM lease WHERE network = v.network AND project_id + 0 = p.project_id
                                                                  LIMIT firm_of_network()) n) >= firm_of_network() THEN 1
                 ELSE 0 END);
END $$;

-- Leases one open task unless it is being changed by somebody (then p_wait decides). p_held: how many leases the caller has. Null: its row stays
-- locked, but it is full by now, or no longer at the level where they found it (else 40 newcomers push the first tasks to the top), or the
-- caller has just answered it, or somebody of their network has. It is found by its key only: a row that fits no more when it is locked
-- would be locked without being found, and who holds it must not wait for another.
CREATE FUNCTION grant_lease(p project_ledger, v asker, p_task bigint, p_held int, p_wait boolean, p_level int, p_now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE l record; used_up boolean;
BEGIN
    IF p_wait THEN
        SELECT mode, open, level INTO l FROM task_ledger WHERE project_id = p.project_id AND task_id = p_task FOR UPDATE;
    ELSE
        SELECT mode, open, level INTO l FROM task_ledger WHERE project_id = p.project_id AND task_id = p_task FOR UPDATE SKIP LOCKED;
    END IF;
    IF NOT FOUND THEN RETURN false; END IF;
    IF NOT l.open OR p_level IS NOT NULL AND l.level IS DISTINCT FROM p_level THEN RETURN NULL; END IF;
    UPDATE task_ledger SET leases = leases + 1, requeued_xid = CASE l.mode WHEN 'by_level' THEN stamp(p.project_id) ELSE requeued_xid END
     WHERE project_id = p.project_id AND task_id = p_task
       AND NOT EXISTS (SELECT FROM task_run WHERE project_id = p.project_id AND task_id = p_task AND actor = ANY (v.actors))
       AND (v.shared IS NULL OR p.counted_per_network
            > (SELECT count(*) FROM task_run WHERE user_ip = v.shared AND project_id + 0 = p.project_id AND -task_id = -p_task
                                           AND (counted OR v.every AND aside IS NULL))
            + (SELECT count(*) FROM lease WHERE network = v.shared AND project_id + 0 = p.project_id AND -task_id = -p_task AND actor ~ '^[ci]:'))
    RETURNING (SELECT expires >= granted + 6 * p.lease FROM expired_lease WHERE project_id = p.project_id AND actor = v.actor AND task_id = p_task)
      INTO used_up;
    IF NOT FOUND THEN RETURN NULL; END IF;
    IF used_up IS NOT NULL THEN DELETE FROM expired_lease WHERE project_id = p.project_id AND actor = v.actor AND task_id = p_task; END IF;
    PERFORM new_lease(p, v, p_task, p_held, used_up, p_now);
    RETURN true;
END $$;

-- How many leases a network has in a project, of those before a lease (null: of all); it stops counting at those that are firm.
CREATE FUNCTION older_of_network(p_project bigint, p_network text, p_lease bigint) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF p_network = '' THEN RETURN 0; END IF;
    RETURN (SELECT count(*) FROM (SELECT FROM lease WHERE network = p_network AND project_id + 0 = p_project
                                     AND (p_lease IS NULL OR id < p_lease) LIMIT firm_of_network()) n);
END $$;

-- When the first lease lapses that somebody else has on a task that the caller could answer; null: never. It looks at two
-- hundred: a volunteer who could answer none of these hears when the last of them lapses.
CREATE FUNCTION next_lapse(p project_ledger, v asker) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE l record; n int := 0;
BEGIN
    FOR l IN SELECT task_id, expires FROM lease WHERE -project_id = -p.project_id AND NOT actor = ANY (v.actors) ORDER BY expires LIMIT 200 LOOP
        n := n + 1;
        EXIT WHEN n = 200;
        CONTINUE WHEN p.n_gold > 0 AND EXISTS (SELECT FROM gold_task g WHERE g.project_id = p.project_id AND g.task_id = l.task_id);
        CONTINUE WHEN EXISTS (SELECT FROM task_run r WHERE r.project_id = p.project_id AND r.task_id = l.task_id AND r.actor = ANY (v.actors));
        CONTINUE WHEN v.shared IS NOT NULL AND (SELECT count(*) FROM task_run r WHERE r.user_ip = v.shared AND r.project_id + 0 = p.project_id
                                                   AND -r.task_id = -l.task_id AND (r.counted OR v.every AND r.aside IS NULL)) >= p.counted_per_network;
        RETURN l.expires;
    END LOOP;
    RETURN CASE WHEN n = 200 THEN l.expires END;
END $$;

-- Whether a task that the caller could answer may have come back since a moment (the oldest transaction running then): the lease
-- that was its last place ended after the scan had passed it and before next_lapse looked for leases.
CREATE FUNCTION has_come_back(p project_ledger, v asker, p_since xid8) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM (SELECT task_id FROM task_ledger WHERE project_id = p.project_id AND open AND requeued_xid >= p_since::text::bigint + p.xid_base
                      ORDER BY requeued_xid DESC LIMIT 100) l
         WHERE NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = p.project_id AND r.task_id = l.task_id AND r.actor = ANY (v.actors))
           AND NOT share_taken(p, v, l.task_id));
END $$;

-- Why this volunteer may not be handed tasks of the project at all, or null.
CREATE FUNCTION access_refusal(p project_ledger, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[], p_network text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF p.project_id IS NULL OR (p.trial AND NOT reachable(p, p_user, p_admin, p_unlocked)) THEN RETURN 'no project'; END IF;
    IF p.lock_id IS NOT NULL AND NOT p_admin AND NOT p.lock_id = ANY (p_unlocked)
       AND NOT EXISTS (SELECT FROM project WHERE id = p.project_id AND owners_ids @> ARRAY[p_user]) THEN RETURN 'locked'; END IF;
    IF p.members_only AND p_actor ~ '^[ci]:' THEN RETURN 'members only'; END IF;
    IF p.has_bars AND is_barred(p.project_id, p_actor, p_network) THEN RETURN 'barred'; END IF;
    RETURN NULL;
END $$;

-- The caller's tasks at [offset, offset + limit) of one sequence: their leases in the order given, then new ones. All up to
-- the end of the window are leased: offset 1 asked before offset 0 must not give the same task twice.
-- state: ok; again (ask again at once: the scan was cut, or a row was busy); wait (open places are leased, see retry_at);
-- network (their network has its share of what is open); none; paused; and what access_refusal says. Without p_wait it waits for nobody, so that many may share a transaction: what would
-- have to wait is "again". lapsed: leases that were looked at and may have ended, by which figures of the project may have
-- changed. p_network: where the caller asks from. p_also: another actor that the request proves (23_same_person.sql).
-- No bitmap scans: they do not mark entries of deleted leases as dead, so that each count of a network's leases would read all
-- that were deleted since the last VACUUM.
CREATE FUNCTION next_tasks(p_project bigint, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[],
                           p_limit int, p_offset int, p_order text, p_now timestamptz, p_wait boolean DEFAULT true,
                           p_network text DEFAULT '', p_also text DEFAULT NULL, OUT state text, OUT tasks bigint[], OUT retry_at timestamptz, OUT lapsed int)
LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
DECLARE p project_ledger; v asker; actors text[]; own bigint[]; late bigint[]; twice bigint[]; placeless_ boolean; need int; w record; active int; blocked bigint; cut boolean; drawn boolean; t bigint; expired boolean; since xid8;
BEGIN
    IF p_limit = 1 AND p_offset = 0 AND p_order = 'priority' AND pg_try_advisory_xact_lock(hashtextextended(p_actor, p_project))
       AND (current_setting('synchronous_commit') = 'off' OR set_config('synchronous_commit', 'off', true) = 'off') THEN
        w := take_next(p_project, p_actor, p_also, p_network, p_now);
        IF w.task IS NOT NULL THEN
            state := 'ok'; tasks := ARRAY[w.task]; lapsed := 0;
            RETURN;
        END IF;
        cut := w.busy IS TRUE; drawn := w.drawn;
    ELSE cut := false; END IF;
    lapsed := 0; late := '{}'; twice := '{}'; placeless_ := false;
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project;
    IF p.project_id IS NULL OR p.trial OR p.lock_id IS NOT NULL OR p.members_only OR p.has_bars THEN
        state := access_refusal(p, p_actor, p_user, p_admin, p_unlocked, p_network);
        IF state IS NOT NULL THEN RETURN; END IF;
    END IF;
    IF p_order IN ('id-down', 'priority-up') AND NOT p.two_way THEN         -- from now on what is added is brought back to such people
        IF NOT p_wait THEN state := 'again'; tasks := '{}'; RETURN; END IF;
        UPDATE project_ledger SET two_way = true WHERE project_id = p_project;
    END IF;
    IF current_setting('synchronous_commit') <> 'off' THEN                  -- a crash may lose leases of its last half second, never answers
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    IF p_wait THEN PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));     -- the same person asking twice at once
    ELSIF NOT pg_try_advisory_xact_lock(hashtextextended(p_actor, p_project)) THEN state := 'again'; RETURN; END IF;
    SELECT ARRAY(SELECT task_id FROM lease WHERE project_id = p_project AND actor = p_actor ORDER BY id),
           EXISTS (SELECT FROM lease WHERE -project_id = -p_project AND expires <= p_now),
           pg_snapshot_xmin(pg_current_snapshot()) INTO own, expired, since;
    IF p.n_gold > 0 THEN
        expired := expired OR EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND placeless AND expires <= p_now);
        placeless_ := EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND placeless);
        IF placeless_ AND NOT p_wait THEN state := 'again'; RETURN; END IF;
    END IF;
    IF own <> '{}' THEN
        late := ARRAY(SELECT task_id FROM lease WHERE project_id = p_project AND actor = p_actor AND expires <= p_now ORDER BY task_id);
    END IF;
    actors := passing_actors(p_project, p_actor, p_also, p_now);
    IF actors IS NULL THEN state := 'again'; RETURN; END IF;
    IF own <> '{}' AND cardinality(actors) > 1 THEN     -- leased before the two were known to be one person
        twice := ARRAY(SELECT DISTINCT task_id FROM task_run WHERE project_id = p_project AND task_id = ANY (own) AND actor = ANY (actors));
    END IF;
    IF (late <> '{}' OR twice <> '{}') AND NOT p_wait THEN state := 'again'; RETURN; END IF;
    IF late <> '{}' OR twice <> '{}' THEN               -- expired, but still theirs: renew what nobody has taken back meanwhile
        PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (late || twice) ORDER BY task_id FOR UPDATE;
        PERFORM drop_leases(p_project, u, ARRAY[p_actor], p_now) FROM unnest(twice) u;
        lapsed := lapsed + cardinality(twice);
        UPDATE lease SET expires = prolonged(granted, expires, p.lease, p_now) WHERE project_id = p_project AND actor = p_actor AND task_id = ANY (late);
        FOREACH t IN ARRAY late LOOP                    -- and end those that had all their time
            lapsed := lapsed + end_lease(p_project, p_actor, t, p_now, NULL, false, p_now)::int;
        END LOOP;
        own := ARRAY(SELECT task_id FROM lease WHERE project_id = p_project AND actor = p_actor ORDER BY id);
    END IF;
    IF p.counted_per_network > 0 AND p_actor ~ '^[ci]:' THEN v := asker_of(p, actors, p_network);
    ELSE v := (p_actor, coalesce(p_network, ''), NULL, '', false, actors); END IF;           -- the same, sooner
    IF placeless_ THEN own := own_tasks(p, v, p_now); END IF;
    need := least(p_offset + p_limit, 200) - cardinality(own);
    IF p.paused THEN need := 0; END IF;
    IF need > 0 AND expired THEN lapsed := lapsed + expire_leases(p_project, p_now); END IF;
    IF need > 0 AND p_offset + p_limit > 1 THEN         -- a preload must not take the last places from those who are here
        SELECT count(DISTINCT l.actor) INTO active FROM (SELECT actor FROM lease WHERE -project_id = -p_project ORDER BY expires DESC LIMIT 60) l;
        IF (SELECT coalesce(sum(CASE mode WHEN 'unlimited' THEN active + 1 WHEN 'one_at_a_time' THEN 1 ELSE n_answers - answers - leases END), 0)
              FROM (SELECT * FROM task_ledger WHERE project_id = p_project AND open LIMIT active + 1) o) <= active THEN
            need := least(need, 1 - cardinality(own));
        END IF;
    END IF;
    IF need > 0 THEN
        IF p.n_gold = 0 OR drawn THEN w := find_tasks(p, v, p_order, need, own, p_now);
        ELSE w := find_with_gold(p, v, p_order, need, own, p_now); END IF;
        blocked := w.blocked; cut := cut OR w.cut;
        -- SKIP LOCKED says "nothing" while a neighbour holds the last open row: wait for it, unless we hold rows ourselves.
        IF p_wait AND w.got = '{}' AND blocked IS NOT NULL AND NOT cut AND lapsed = 0 AND late = '{}' AND NOT placeless_
           AND grant_lease(p, v, blocked, cardinality(own), true, w.at_level, p_now) THEN own := own || blocked; END IF;
        own := own || w.got;
        IF own = '{}' AND blocked IS NULL AND NOT cut THEN      -- rather than nothing, what somebody else has more than enough of
            w := take_over(p, v, p_now);
            IF w.task IS NOT NULL THEN own := ARRAY[w.task]; END IF;
            cut := cut OR w.busy; lapsed := lapsed + w.ended;
        END IF;
    END IF;
    tasks := own[p_offset + 1 : p_offset + p_limit];
    state := 'ok';
    IF tasks = '{}' THEN
        retry_at := next_lapse(p, v);
        state := CASE WHEN p.paused THEN 'paused'
                      WHEN cut OR blocked IS NOT NULL OR lapsed > 0 OR p.epoch <> (SELECT epoch FROM project_ledger WHERE project_id = p_project) THEN 'again'
                      WHEN retry_at IS NOT NULL THEN 'wait'
                      WHEN own = '{}' AND has_come_back(p, v, since) THEN 'again'
                      WHEN own = '{}' AND network_is_done(p, v) THEN 'network' ELSE 'none' END;
    END IF;
END $$;

-- Hands out one named task (the page of a task). leased; late (full, or their time for it is over: an answer will be stored and
-- may not count); answered; paused; no task; and what access_refusal says. Of the tasks that somebody only looked at while they were
-- full the last two hundred are remembered. A lease that the person has of it as another of their actors makes room. p_also as in next_tasks.
-- Where there are gold tasks, which are never full, no task is: without a place the lease is placeless (33_gold.sql).
CREATE FUNCTION lease_task(p_project bigint, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[], p_task bigint, p_now timestamptz,
                          p_network text DEFAULT '', p_also text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
DECLARE p project_ledger; t task_ledger; v asker; bar text; ends timestamptz; held int;
BEGIN
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project;
    bar := access_refusal(p, p_actor, p_user, p_admin, p_unlocked, p_network);
    IF bar IS NOT NULL THEN RETURN bar; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    IF NOT FOUND THEN RETURN 'no task'; END IF;
    v := asker_of(p, proven_actors(p_project, p_actor, p_also, p_now), p_network);
    IF EXISTS (SELECT FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = ANY (v.actors)) THEN RETURN 'answered'; END IF;
    UPDATE lease SET expires = prolonged(granted, expires, p.lease, p_now)
     WHERE project_id = p_project AND actor = p_actor AND task_id = p_task RETURNING expires INTO ends;
    IF ends > p_now THEN RETURN 'leased'; END IF;
    IF FOUND THEN
        PERFORM end_lease(p_project, p_actor, p_task, p_now, NULL, false, p_now);
        RETURN 'late';
    END IF;
    IF p.n_gold > 0 THEN
        ends := prolong_placeless(p, ARRAY[p_actor], p_task, true, p_now);
        IF ends IS NOT NULL THEN RETURN CASE WHEN ends > p_now THEN 'leased' ELSE 'late' END; END IF;
    END IF;
    IF p.paused THEN RETURN 'paused'; END IF;
    IF EXISTS (SELECT FROM lease WHERE project_id = p_project AND actor = ANY (v.actors) AND task_id = p_task) THEN
        PERFORM end_lease(p_project, u, p_task, 'infinity', p_now, false, p_now) FROM unnest(v.actors) u;
        SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task;
    END IF;
    IF p.n_gold > 0 AND cardinality(v.actors) > 1 THEN
        UPDATE expired_lease SET placeless = false, expires = p_now WHERE project_id = p_project AND actor = ANY (v.actors) AND task_id = p_task AND placeless;
    END IF;
    SELECT count(*) INTO held FROM lease WHERE project_id = p_project AND actor = p_actor;
    IF p.n_gold > 0 THEN held := held + (SELECT count(*) FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND placeless); END IF;
    IF held < 200 AND (CASE WHEN t.mode = 'gold' THEN grant_gold(p, v, p_task, held, p_now)
                            WHEN t.open THEN grant_lease(p, v, p_task, held, true, NULL, p_now) END) THEN
        UPDATE lease SET expires = p_now + p.lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task;       -- no preload
        RETURN 'leased';
    END IF;
    IF p.n_gold > 0 AND held < 200 THEN
        PERFORM lease_placeless(p_project, p_actor, p_task, p_now, p_now + p.lease);
        RETURN 'leased';
    END IF;
    IF (SELECT count(*) FROM expired_lease WHERE project_id = p_project AND actor = p_actor) >= 200 THEN
        DELETE FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND task_id = ANY (ARRAY(
            SELECT task_id FROM expired_lease WHERE project_id = p_project AND actor = p_actor AND granted = expires AND NOT skipped AND task_id <> p_task
             ORDER BY granted LIMIT 1 FOR UPDATE SKIP LOCKED));
    END IF;
    INSERT INTO expired_lease (project_id, actor, task_id, granted, expires, skipped) VALUES (p_project, p_actor, p_task, p_now, p_now, false)
        ON CONFLICT (project_id, actor, task_id) DO NOTHING;
    RETURN 'late';
END $$;
