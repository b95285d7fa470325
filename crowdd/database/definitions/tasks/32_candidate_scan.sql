-- Scans: how the next task for a volunteer is found without looking at what they have answered.
--
-- A scan is an index scan over the open tasks of a project. A full task is in no such index, so it is passed without being
-- seen. How far somebody has come on a scan is their position (k1, k2), which grows along every scan:
--   priority, priority-up, id, id-down     an order of the tasks, each by an index of its own
--   returns:<order>                        tasks that were brought back behind somebody in that order
--   level/<n>                              breadth first: tasks with n answers and leases
-- Others have no position: first/<n>/<order>, the first tasks of a level in an order; random and started, chance; sort/<attribute>/<asc or
-- desc>, an order without index, whose cost grows with the project.
--
-- Whatever makes a place free again, or puts a task where somebody may have been, stamps the row with its transaction id. A scan
-- of stamps (returns, level) is followed up to the oldest transaction still running (pg_snapshot_xmin), never beyond. A position
-- stops before the first row that somebody had locked. Among the returned tasks only those count that lie behind the caller in
-- their order; what is ahead comes in its turn.
--
-- Where the rule about networks applies (22_networks.sql), an anonymous volunteer also passes tasks of which their network has
-- its share. That depends on the network they ask from, so they have positions for each: the scan's name ends in @<network>.
-- And the network has a low-water mark of its own on each scan, so that its next volunteer need not pass what it has answered: the
-- position of n:<network>, which passes only what was not open, or of which the network had its share. When a network loses
-- a place of its share, the task is stamped, like one that is open again.

CREATE FUNCTION set_position(p_project bigint, p_actor text, p_scan text, p1 float8, p2 bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO position VALUES (p_project, p_actor, p_scan, p1, p2, p_now)
        ON CONFLICT (project_id, actor, scan) DO UPDATE SET k1 = p1, k2 = p2, used = p_now;
END $$;

-- A place on a scan, and whether it is the scan's low-water mark: the position of nobody, which passes only what was not open.
-- Newcomers start there, else they would read all index entries that died since the last VACUUM. shared: it is no further than
-- the low-water mark of the caller's network or that of everybody.
CREATE TYPE scan_position AS (k1 float8, k2 bigint, at_low_water_mark boolean, shared boolean);

-- Where the caller starts on a scan by level.
CREATE FUNCTION start_at_level(p project_ledger, v asker, p_scan text) RETURNS scan_position LANGUAGE plpgsql AS $$
DECLARE s scan_position := ('-infinity', 0, true, true); r record; here text := p_scan || '/' || p.epoch;
BEGIN
    SELECT o.k1 AS own_1, o.k2 AS own_2, e.k1 AS of_all_1, e.k2 AS of_all_2, n.k1 AS of_network_1, n.k2 AS of_network_2 INTO r FROM (SELECT) x
      LEFT JOIN position o ON o.project_id = p.project_id AND o.actor = v.actor AND o.scan = here || v.suffix
      LEFT JOIN position e ON e.project_id = p.project_id AND e.actor = '' AND e.scan = here
      LEFT JOIN position n ON n.project_id = p.project_id AND n.actor = 'n:' || v.shared AND n.scan = here;
    IF (r.of_all_1, r.of_all_2) > (s.k1, s.k2) THEN s := (r.of_all_1, r.of_all_2, true, true); END IF;
    IF (r.own_1, r.own_2) > (s.k1, s.k2) THEN s := (r.own_1, r.own_2, false, false); END IF;
    IF (r.of_network_1, r.of_network_2) > (s.k1, s.k2) THEN s := (r.of_network_1, r.of_network_2, false, true); END IF;
    RETURN s;
END $$;

-- Where the caller starts in an order and among the tasks that returned to it. An open task behind the low-water mark of an order has
-- a stamp beyond that of its returns. Who has come further among the returns than that may have passed it there, as one
-- that was still ahead of them: they keep to their own position in the order.
-- Each place is a look-up by the whole key: where the table looks tiny to the planner, lists would be a filter on all rows of
-- the project. A row of joins is one statement without a sort or a loop.
CREATE FUNCTION start_in_order(p project_ledger, v asker, p_order text, OUT main scan_position, OUT returned scan_position) LANGUAGE plpgsql AS $$
DECLARE r record; n record; here text := p_order || '/' || p.epoch; back text := 'returns:' || here;
BEGIN
    main := ('-infinity', 0, true, true); returned := main;
    SELECT m.k1 AS main_1, m.k2 AS main_2, b.k1 AS back_1, b.k2 AS back_2,
           fm.k1 AS mark_1, fm.k2 AS mark_2, fb.k1 AS back_mark_1, fb.k2 AS back_mark_2 INTO r FROM (SELECT) x
      LEFT JOIN position m ON m.project_id = p.project_id AND m.actor = v.actor AND m.scan = here || v.suffix
      LEFT JOIN position b ON b.project_id = p.project_id AND b.actor = v.actor AND b.scan = back || v.suffix
      LEFT JOIN position fm ON fm.project_id = p.project_id AND fm.actor = '' AND fm.scan = here
      LEFT JOIN position fb ON fb.project_id = p.project_id AND fb.actor = '' AND fb.scan = back;
    IF (r.main_1, r.main_2) > (main.k1, main.k2) THEN main := (r.main_1, r.main_2, false, false); END IF;
    IF (r.back_1, r.back_2) > (returned.k1, returned.k2) THEN returned := (r.back_1, r.back_2, false, false); END IF;
    IF (r.back_mark_1, r.back_mark_2) > (returned.k1, returned.k2) THEN returned := (r.back_mark_1, r.back_mark_2, true, true); END IF;
    IF v.shared IS NOT NULL THEN
        SELECT nm.k1 AS main_1, nm.k2 AS main_2, nb.k1 AS back_1, nb.k2 AS back_2 INTO n FROM (SELECT) x
          LEFT JOIN position nm ON nm.project_id = p.project_id AND nm.actor = 'n:' || v.shared AND nm.scan = here
          LEFT JOIN position nb ON nb.project_id = p.project_id AND nb.actor = 'n:' || v.shared AND nb.scan = back;
        IF (n.back_1, n.back_2) > (returned.k1, returned.k2) THEN returned := (n.back_1, n.back_2, false, true); END IF;
    END IF;
    IF NOT returned.shared THEN RETURN; END IF;
    IF (r.mark_1, r.mark_2) > (main.k1, main.k2) THEN main := (r.mark_1, r.mark_2, true, true); END IF;
    IF v.shared IS NULL THEN RETURN; END IF;
    IF (n.main_1, n.main_2) > (main.k1, main.k2) THEN main := (n.main_1, n.main_2, false, true); END IF;
END $$;

-- The open tasks of a scan beyond a place, as a cursor of (task_id, k1, k2). Of a returned task also (a1, a2): where it stands
-- in the order that it returned to.
CREATE FUNCTION open_scan(p_project bigint, p_scan text, f scan_position) RETURNS refcursor LANGUAGE plpgsql AS $$
DECLARE c refcursor; ord text := substring(p_scan FROM 'returns:(.*)'); lvl int := substring(p_scan FROM 'level/(.*)');
BEGIN
    IF p_scan = 'priority' THEN OPEN c FOR SELECT task_id, rank AS k1, task_id AS k2, NULL::float8 AS a1, NULL::bigint AS a2 FROM task_ledger
        WHERE project_id = p_project AND open AND (rank, task_id) > (f.k1, f.k2) ORDER BY rank, task_id;
    ELSIF p_scan = 'id' THEN OPEN c FOR SELECT task_id, 0::float8 AS k1, task_id AS k2, NULL::float8 AS a1, NULL::bigint AS a2 FROM task_ledger
        WHERE project_id = p_project AND open AND task_id > f.k2 ORDER BY task_id;
    ELSIF ord IS NOT NULL THEN OPEN c FOR SELECT task_id, requeued_xid::float8 AS k1, task_id AS k2,
               CASE ord WHEN 'priority' THEN rank WHEN 'priority-up' THEN priority_0 ELSE 0 END AS a1,
               CASE ord WHEN 'id-down' THEN -task_id ELSE task_id END AS a2 FROM task_ledger
        WHERE project_id = p_project AND open AND requeued_xid IS NOT NULL AND (requeued_xid, task_id) > (greatest(f.k1, 0)::bigint, f.k2) ORDER BY requeued_xid, task_id;
    ELSIF lvl IS NOT NULL THEN OPEN c FOR SELECT task_id, requeued_xid::float8 AS k1, task_id AS k2, NULL::float8 AS a1, NULL::bigint AS a2 FROM task_ledger
        WHERE project_id = p_project AND open AND mode = 'by_level' AND level = lvl
          AND (requeued_xid, task_id) > (greatest(f.k1, 0)::bigint, f.k2) ORDER BY requeued_xid, task_id;
    ELSIF p_scan = 'id-down' THEN OPEN c FOR SELECT task_id, 0::float8 AS k1, -task_id AS k2, NULL::float8 AS a1, NULL::bigint AS a2 FROM task_ledger
        WHERE project_id = p_project AND open AND task_id < CASE WHEN f.k1 < 0 THEN 9223372036854775807 ELSE -f.k2 END ORDER BY task_id DESC;
    ELSE OPEN c FOR SELECT task_id, priority_0 AS k1, task_id AS k2, NULL::float8 AS a1, NULL::bigint AS a2 FROM task_ledger     -- priority-up
        WHERE project_id = p_project AND open AND (priority_0, task_id) > (f.k1, f.k2) ORDER BY priority_0, task_id;
    END IF;
    RETURN c;
END $$;

-- Where a volunteer goes on who has found nothing for a while: before the first of the next 5,000 tasks of a scan that he could
-- take, or behind the last of these. By sets, since they may have answered them all. m as in lease_from_scan; null: the scan ends here.
-- net: as far as the network's low-water mark may come; all: that is behind the last.
CREATE FUNCTION skip_ahead(p project_ledger, v asker, p_scan text, f scan_position, m scan_position, p_own bigint[], OUT next scan_position, OUT net scan_position, OUT all_shared boolean) LANGUAGE plpgsql AS $$
DECLARE l record; r record; ord text := substring(p_scan FROM 'returns:(.*)'); lvl int := substring(p_scan FROM 'level/(.*)');
BEGIN
    SELECT * INTO l FROM (VALUES
        ('priority',    'rank',       'task_id',  '(rank, task_id) > ($2, $3)', 'rank, task_id'),
        ('priority-up', 'priority_0', 'task_id',  '(priority_0, task_id) > ($2, $3)', 'priority_0, task_id'),
        ('id',          '0::float8',  'task_id',  'task_id > $3', 'task_id'),
        ('id-down',     '0::float8',  '-task_id', 'task_id < CASE WHEN $2 < 0 THEN 9223372036854775807 ELSE -$3 END', 'task_id DESC'),
        ('returns',     'requeued_xid',    'task_id',  'requeued_xid IS NOT NULL AND (requeued_xid, task_id) > (greatest($2, 0)::bigint, $3)', 'requeued_xid, task_id'),
        ('level',       'requeued_xid',    'task_id',  'mode = ''by_level'' AND level = $4 AND (requeued_xid, task_id) > (greatest($2, 0)::bigint, $3)', 'requeued_xid, task_id')
    ) scans (scan, k1, k2, beyond, sorted) WHERE scan = split_part(split_part(p_scan, ':', 1), '/', 1);
    EXECUTE format($q$
        WITH o AS MATERIALIZED (
            SELECT task_id, rank, priority_0, (%s)::float8 AS k1, %s AS k2 FROM task_ledger WHERE project_id = $1 AND open AND %s ORDER BY %s LIMIT 5000),
        w AS MATERIALIZED (
            SELECT *, $10 IS NOT NULL AND
                   (SELECT count(*) FROM task_run x WHERE x.user_ip = $10 AND x.project_id + 0 = $1 AND -x.task_id = -o.task_id
                       AND (x.counted OR $12 AND x.aside IS NULL))
                 + (SELECT count(*) FROM lease x WHERE x.network = $10 AND x.project_id + 0 = $1 AND -x.task_id = -o.task_id AND x.actor ~ '^[ci]:')
                   >= $11 AS shared FROM o),
        last AS (SELECT k1, k2 FROM w ORDER BY k1 DESC, k2 DESC LIMIT 1),
        mine AS (
            SELECT k1, k2 - 1 AS k2 FROM w
             WHERE NOT shared AND NOT task_id = ANY ($5)
               AND coalesce(CASE $6 WHEN 'priority' THEN (rank, task_id) <= ($7, $8) WHEN 'priority-up' THEN (priority_0, task_id) <= ($7, $8)
                        WHEN 'id' THEN (0, task_id) <= ($7, $8) WHEN 'id-down' THEN (0, -task_id) <= ($7, $8) END, true)
               AND NOT EXISTS (SELECT FROM task_run x WHERE x.project_id = $1 AND x.task_id = w.task_id AND x.actor = ANY ($13))
               AND (SELECT x.skipped FROM expired_lease x WHERE x.project_id = $1 AND x.actor = $9 AND x.task_id = w.task_id) IS NOT TRUE
             ORDER BY k1, k2 LIMIT 1),
        theirs AS (SELECT k1, k2 - 1 AS k2 FROM w WHERE NOT shared ORDER BY k1, k2 LIMIT 1)
        SELECT coalesce(m.k1, l.k1) AS k1, coalesce(m.k2, l.k2) AS k2, coalesce(t.k1, l.k1) AS t1, coalesce(t.k2, l.k2) AS t2, t.k1 IS NULL AS all_shared
          FROM last l LEFT JOIN mine m ON true LEFT JOIN theirs t ON true $q$, l.k1, l.k2, l.beyond, l.sorted)
       INTO r USING p.project_id, f.k1, f.k2, lvl, p_own, ord, m.k1, m.k2, v.actor, v.shared, p.counted_per_network, v.every, v.actors;
    IF r.k1 IS NULL THEN RETURN; END IF;
    next := (r.k1, r.k2, true, false); net := (r.t1, r.t2, false, true); all_shared := r.all_shared;
END $$;

-- Walks a scan from where the caller is (f) and leases up to p_need tasks. The position is saved; it stops before the first task
-- that was locked by somebody. m: where they are in the order, whose returned tasks these are. cut: there may be more, ask again.
-- Of returned tasks eight are looked at, so that the first of them in the volunteer's order comes first. On the way the low-water mark of the caller's
-- network is raised, where that is worth a write.
CREATE FUNCTION lease_from_scan(p project_ledger, v asker, p_scan text, f scan_position, m scan_position, p_need int, p_own bigint[], p_now timestamptz,
                     OUT got bigint[], OUT blocked bigint, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE
    c refcursor; r record; s scan_position := f; stay record; g1 float8; g2 bigint; seen int := 0 /* in vain */; skips int := 0; first boolean := true; horizon float8;
    granted boolean; more boolean; here text := p_scan || '/' || p.epoch; ids bigint[] := '{}'; a1s float8[] := '{}'; a2s bigint[] := '{}'; k1s float8[] := '{}';
    lvl int := substring(p_scan FROM 'level/(.*)'); ord text := substring(p_scan FROM 'returns:(.*)'); stamped boolean := p_scan ~ '^(returns|level)';
    shared boolean; net scan_position := f; n_shared int := 0; raising boolean := v.shared IS NOT NULL AND f.shared; j record;
BEGIN
    got := '{}'; cut := false;
    horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint + p.xid_base;      -- before the scan takes its snapshot
    c := open_scan(p.project_id, p_scan, f);
    LOOP
        EXIT WHEN cardinality(got) >= p_need OR cardinality(ids) >= greatest(p_need, 8);
        IF seen >= 100 THEN                             -- a bounded scan per request
            cut := skips >= 4 OR blocked IS NOT NULL OR ids <> '{}' OR got <> '{}';
            EXIT WHEN cut;
            CLOSE c;
            j := skip_ahead(p, v, p_scan, s, m, p_own);
            IF j.next IS NOT NULL THEN
                IF raising THEN net := j.net; n_shared := 100; raising := j.all_shared; END IF;
                s := j.next;
            END IF;
            skips := skips + 1; seen := 0;
            c := open_scan(p.project_id, p_scan, s);
        END IF;
        FETCH c INTO r;
        more := FOUND;
        IF first AND f.at_low_water_mark AND (more OR stamped) THEN       -- raise it; seldom on a scan of stamps, where it always could
            IF stamped AND (NOT more OR r.k1 >= horizon) THEN g1 := horizon; g2 := 0; ELSE g1 := r.k1; g2 := r.k2 - 1; END IF;
            IF (g1, g2) > (f.k1 + stamped::int * 10000, f.k2) AND pg_try_advisory_xact_lock(hashtextextended('low_water_mark/' || here, p.project_id)) THEN
                PERFORM set_position(p.project_id, '', here, g1, g2, p_now);            -- never waits
            END IF;
        END IF;
        first := false;
        EXIT WHEN NOT more;
        shared := v.shared IS NOT NULL AND network_share(p.project_id, r.task_id, v.shared, v.every) >= p.counted_per_network;
        raising := raising AND shared;
        IF raising THEN net := (r.k1, r.k2, false, true); n_shared := n_shared + 1; END IF;
        IF shared OR (r.a1, r.a2) > (m.k1, m.k2) OR r.task_id = ANY (p_own || got)
           OR EXISTS (SELECT FROM task_run WHERE project_id = p.project_id AND task_id = r.task_id AND actor = ANY (v.actors))
           OR (SELECT skipped FROM expired_lease WHERE project_id = p.project_id AND actor = v.actor AND task_id = r.task_id) THEN seen := seen + 1;
        ELSIF ord IS NOT NULL THEN ids := ids || r.task_id; a1s := a1s || r.a1; a2s := a2s || r.a2; k1s := k1s || r.k1;
        ELSE
            granted := grant_lease(p, v, r.task_id, cardinality(p_own || got), false, lvl, p_now);
            IF granted THEN got := got || r.task_id; ELSIF granted IS NULL THEN cut := true; ELSE blocked := coalesce(blocked, r.task_id); END IF;
            IF granted IS DISTINCT FROM true THEN seen := seen + 1; END IF;
        END IF;
        IF blocked IS NULL THEN s := (r.k1, r.k2, false, false); END IF;
    END LOOP;
    CLOSE c;
    IF ids <> '{}' THEN
        FOR r IN SELECT id FROM unnest(ids, a1s, a2s) u(id, a1, a2) ORDER BY a1, a2 LOOP
            EXIT WHEN cardinality(got) >= p_need;
            granted := grant_lease(p, v, r.id, cardinality(p_own || got), false, NULL, p_now);
            IF granted THEN got := got || r.id; ELSIF granted IS NULL THEN cut := true; ELSE blocked := coalesce(blocked, r.id); END IF;
        END LOOP;
        SELECT k1, id - 1 AS k2 INTO stay FROM unnest(ids, k1s) u(id, k1) WHERE NOT id = ANY (got) ORDER BY k1, id LIMIT 1;
        IF FOUND THEN s := (stay.k1, stay.k2, false, false); END IF;
    END IF;
    IF stamped AND s.k1 >= horizon THEN s := (horizon, 0, false, false); END IF;
    IF (s.k1, s.k2) > (f.k1, f.k2) THEN
        PERFORM set_position(p.project_id, v.actor, here || v.suffix, s.k1, s.k2, p_now);
        IF ord IS NOT NULL AND m.shared THEN PERFORM set_position(p.project_id, v.actor, ord || '/' || p.epoch || v.suffix, m.k1, m.k2, p_now); END IF;
    END IF;
    IF n_shared >= 8 THEN
        IF stamped AND net.k1 >= horizon THEN net := (horizon, 0, false, true); END IF;
        IF (net.k1, net.k2) > (f.k1, f.k2) AND pg_try_advisory_xact_lock(hashtextextended('low_water_mark/' || here || v.suffix, p.project_id)) THEN
            PERFORM set_position(p.project_id, 'n:' || v.shared, here, net.k1, net.k2, p_now);
        END IF;
    END IF;
END $$;

-- Whether nothing has come back to an order beyond a place on its scan of returns (f), and walking that scan would not raise its
-- low-water mark either.
CREATE FUNCTION nothing_returned(p project_ledger, f scan_position) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN NOT (f.at_low_water_mark AND pg_snapshot_xmin(pg_current_snapshot())::text::bigint + p.xid_base > f.k1 + 10000)
       AND NOT EXISTS (SELECT FROM task_ledger WHERE project_id = p.project_id AND open AND requeued_xid IS NOT NULL
                          AND (requeued_xid, task_id) > (greatest(f.k1, 0)::bigint, f.k2));
END $$;

-- What most asks come to, in three statements: the first open task of the order 'priority' beyond the caller's place is one that they
-- can have, nothing has come back to them, and the project has none of the rules that need more than this. A fourth looks at what came back to
-- others: less than 64 tasks, each of which is still ahead of the caller or was answered by them. task is null when it is not
-- so, and nothing was changed: then next_tasks looks, which knows why. busy: the row of a task is locked nevertheless, so that the
-- caller may wait for no other. The caller of this function holds the volunteer's lock.
--
-- One statement reads the facts of the task and locks it. Whatever changes the answers or leases of a task changes its ledger row, too:
-- where the version that was locked is the one that was read (current), the facts are those of now. A scheduler in the list walks the
-- order from the first ask on (scans_of), in mode limited. Low-water marks of the order only spare newcomers and networks index entries,
-- so they are not looked at.
--
-- In a project with gold tasks chance comes first, as in find_with_gold: drawn says that it was asked, so that the task may not be gold by a
-- second chance. What is not taken in the order is taken by take_drawn.
CREATE FUNCTION take_next(p_project bigint, p_actor text, p_also text, p_network text, p_now timestamptz, OUT task bigint, OUT busy boolean, OUT drawn boolean)
LANGUAGE plpgsql AS $$
DECLARE p record; f record; here text; back text; theirs boolean;
BEGIN
    SELECT epoch, lease, CASE WHEN p_network <> '' AND p_actor ~ '^[ci]:' THEN counted_per_network ELSE 0 END AS maximum,
           CASE WHEN n_gold > 0 THEN l END AS mixed,
           CASE WHEN n_gold > 0 THEN random() < gold_chance(l, coalesce((SELECT runs FROM volunteer WHERE project_id = p_project AND actor = p_actor), 0)) END AS gold
      INTO p FROM project_ledger l
     WHERE project_id = p_project AND sched IN ('default', 'depth_first', 'locked')
       AND NOT (trial OR paused OR members_only OR has_bars) AND lock_id IS NULL
       AND NOT EXISTS (SELECT FROM lease WHERE project_id = p_project AND actor = p_actor)
       AND NOT EXISTS (SELECT FROM lease WHERE -project_id = -p_project AND expires <= p_now)
       AND CASE WHEN n_gold > 0 THEN NOT EXISTS (SELECT FROM expired_lease WHERE project_id = p_project AND placeless AND (actor = p_actor OR expires <= p_now)) ELSE true END;
    IF NOT FOUND THEN RETURN; END IF;
    IF p_also IS NOT NULL THEN
        IF NOT EXISTS (SELECT FROM same_person WHERE actor = p_actor AND project_id IN (0, p_project) AND other = p_also) THEN RETURN; END IF;
    END IF;
    IF p.gold IS NOT NULL THEN
        drawn := true;
        IF p.gold OR (p.mixed).sched = 'default' THEN
            f := take_drawn(p.mixed, asker_of(p.mixed, actors_of(p_project, p_actor), p_network), p.gold, p_now);
            task := f.task; busy := f.busy;
            RETURN;
        END IF;
    END IF;
    here := 'priority/' || p.epoch; back := 'returns:' || here;
    SELECT l.task_id, l.rank, l.ctid = t.ctid AS current, o.k1, o.k2, greatest(b.k1, r.k1, 0)::bigint AS back_1,
           CASE WHEN b.k1 > r.k1 THEN b.k2 ELSE coalesce(r.k2, b.k2, 0) END AS back_2,
           EXISTS (SELECT FROM task_ledger WHERE project_id = p_project AND open AND requeued_xid IS NOT NULL
               AND (requeued_xid, task_id) > (greatest(b.k1, r.k1, 0)::bigint, CASE WHEN b.k1 > r.k1 THEN b.k2 ELSE coalesce(r.k2, b.k2, 0) END)) AS returned
      INTO f FROM position o
      LEFT JOIN position b ON b.project_id = p_project AND b.actor = p_actor AND b.scan = back || CASE WHEN p.maximum > 0 THEN '@' || p_network ELSE '' END
      LEFT JOIN position r ON r.project_id = p_project AND r.actor = '' AND r.scan = back
     CROSS JOIN LATERAL (SELECT ctid, task_id, rank, mode FROM task_ledger
                          WHERE project_id = p_project AND open AND (rank, task_id) > (o.k1, o.k2) ORDER BY rank, task_id LIMIT 1) l
      JOIN task_ledger t ON t.project_id = p_project AND t.task_id = l.task_id
     WHERE o.project_id = p_project AND o.actor = p_actor AND o.scan = here || CASE WHEN p.maximum > 0 THEN '@' || p_network ELSE '' END AND l.mode = 'limited'
       AND (SELECT true FROM task_run x WHERE x.project_id = p_project AND x.task_id = l.task_id
               AND x.actor = ANY (p_actor || ARRAY(SELECT other FROM same_person WHERE actor = p_actor AND project_id IN (0, p_project))) LIMIT 1) IS NULL
       AND (SELECT true FROM expired_lease x WHERE x.project_id = p_project AND x.actor = p_actor AND x.task_id = l.task_id) IS NULL
       AND CASE WHEN p.maximum > 0 THEN (SELECT true FROM (
                SELECT FROM task_run x WHERE x.user_ip = p_network AND x.project_id + 0 = p_project AND -x.task_id = -l.task_id AND x.counted UNION ALL
                SELECT FROM lease x WHERE x.network = p_network AND x.project_id + 0 = p_project AND -x.task_id = -l.task_id AND x.actor ~ '^[ci]:') s
                OFFSET p.maximum - 1 LIMIT 1) IS NULL ELSE true END
       FOR UPDATE OF t SKIP LOCKED;
    busy := FOUND;
    IF f.current THEN IF f.returned THEN
        SELECT count(*) = 64 OR bool_or((x.rank, x.task_id) <= (f.k1, f.k2) AND (SELECT true FROM task_run y WHERE y.project_id = p_project AND y.task_id = x.task_id
                   AND y.actor = ANY (p_actor || ARRAY(SELECT other FROM same_person WHERE actor = p_actor AND project_id IN (0, p_project))) LIMIT 1) IS NULL)
          INTO theirs FROM (SELECT rank, task_id FROM task_ledger WHERE project_id = p_project AND open AND requeued_xid IS NOT NULL
                               AND (requeued_xid, task_id) > (f.back_1, f.back_2) ORDER BY requeued_xid, task_id LIMIT 64) x;
        IF theirs THEN RETURN; END IF;
    END IF; END IF;
    IF f.current THEN
        WITH counted AS (UPDATE task_ledger SET leases = leases + 1 WHERE project_id = p_project AND task_id = f.task_id),
             leased AS (INSERT INTO lease (project_id, actor, task_id, granted, expires, network, soft)
                        VALUES (p_project, p_actor, f.task_id, p_now, p_now + p.lease, coalesce(p_network, ''), CASE WHEN p_network <> '' AND EXISTS (
                                SELECT FROM lease WHERE network = p_network AND project_id + 0 = p_project OFFSET firm_of_network() - 1) THEN 1 ELSE 0 END))
        UPDATE position SET k1 = f.rank, k2 = f.task_id, used = p_now
         WHERE project_id = p_project AND actor = p_actor AND scan = here || CASE WHEN p.maximum > 0 THEN '@' || p_network ELSE '' END;
        task := f.task_id;
    END IF;
END $$;

-- What most asks come to, at a fraction of the cost of a scan: the first open task of an order beyond the caller's place (f) is
-- one that they can have. got is empty when it is not: then lease_from_scan looks. cut as there.
-- (No EXISTS where many rows are expected: it could be answered from a list of all that they have answered.)
CREATE FUNCTION take_first(p project_ledger, v asker, p_order text, f scan_position, p_own bigint[], p_now timestamptz,
                           OUT got bigint[], OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE r record; granted boolean;
BEGIN
    got := '{}'; cut := false;
    IF f.at_low_water_mark THEN RETURN; END IF;                  -- lease_from_scan may raise it
    IF p_order = 'priority' THEN
        SELECT task_id, rank AS k1, task_id AS k2,
               (SELECT true FROM task_run x WHERE x.project_id = p.project_id AND x.task_id = l.task_id AND x.actor = ANY (v.actors) LIMIT 1) AS answered,
               (SELECT skipped FROM expired_lease x WHERE x.project_id = p.project_id AND x.actor = v.actor AND x.task_id = l.task_id) AS skipped
          INTO r FROM task_ledger l WHERE project_id = p.project_id AND open AND (rank, task_id) > (f.k1, f.k2) ORDER BY rank, task_id LIMIT 1;
    ELSIF p_order = 'id' THEN
        SELECT task_id, 0::float8 AS k1, task_id AS k2,
               (SELECT true FROM task_run x WHERE x.project_id = p.project_id AND x.task_id = l.task_id AND x.actor = ANY (v.actors) LIMIT 1) AS answered,
               (SELECT skipped FROM expired_lease x WHERE x.project_id = p.project_id AND x.actor = v.actor AND x.task_id = l.task_id) AS skipped
          INTO r FROM task_ledger l WHERE project_id = p.project_id AND open AND task_id > f.k2 ORDER BY task_id LIMIT 1;
    ELSE RETURN;
    END IF;
    IF NOT FOUND OR r.answered OR r.skipped OR r.task_id = ANY (p_own) THEN RETURN; END IF;
    granted := grant_lease(p, v, r.task_id, cardinality(p_own), false, NULL, p_now);
    cut := granted IS NULL;
    IF granted THEN
        got := ARRAY[r.task_id];
        INSERT INTO position VALUES (p.project_id, v.actor, p_order || '/' || p.epoch || v.suffix, r.k1, r.k2, p_now)
            ON CONFLICT (project_id, actor, scan) DO UPDATE SET k1 = r.k1, k2 = r.k2, used = p_now;
    END IF;
END $$;

-- Leases up to p_need of these tasks, in this order, as far as the caller may have them.
CREATE FUNCTION lease_some(p project_ledger, v asker, p_tasks bigint[], p_level int, p_need int, p_own bigint[], p_now timestamptz,
                           OUT got bigint[], OUT blocked bigint, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE t bigint; granted boolean;
BEGIN
    got := '{}'; cut := false;
    FOREACH t IN ARRAY p_tasks LOOP
        EXIT WHEN cardinality(got) >= p_need;
        CONTINUE WHEN t = ANY (p_own || got)
            OR EXISTS (SELECT FROM task_run WHERE project_id = p.project_id AND task_id = t AND actor = ANY (v.actors))
            OR (SELECT skipped FROM expired_lease WHERE project_id = p.project_id AND actor = v.actor AND task_id = t)
            OR share_taken(p, v, t);
        granted := grant_lease(p, v, t, cardinality(p_own || got), false, p_level, p_now);
        IF granted THEN got := got || t; ELSIF granted IS NULL THEN cut := true; ELSE blocked := coalesce(blocked, t); END IF;
    END LOOP;
END $$;

-- Leases tasks drawn at random: thirty dense ordinals with rejection, which is exactly uniform over the tasks that are open to
-- the caller.
CREATE FUNCTION lease_random(p project_ledger, v asker, p_need int, p_own bigint[], p_now timestamptz,
                     OUT got bigint[], OUT blocked bigint, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE w record; t bigint; o bigint;
BEGIN
    got := '{}'; cut := false;
    FOR tries IN 1..30 LOOP
        EXIT WHEN cardinality(got) >= p_need;
        o := 1 + floor(random() * p.n_ordinals);
        SELECT task_id INTO t FROM task_ledger WHERE project_id = p.project_id AND ordinal = o AND open;
        CONTINUE WHEN NOT FOUND;
        w := lease_some(p, v, ARRAY[t], NULL, 1, p_own || got, p_now);
        got := got || w.got; cut := cut OR w.cut;       -- what is locked now, the scans behind this one find again
    END LOOP;
END $$;

-- Leases tasks drawn at random, each of which has most answers and leases among thirty neighbours by ordinal. So few tasks are under way at a
-- time, and they are completed one after the other as in an order, but nobody can tell from the tasks that they get which ones
-- come next. Neighbours lie on a few pages, where thirty draws would be thirty pages. Tasks that are leased together are of draws
-- of their own: among neighbours, a gold task would stand out.
CREATE FUNCTION lease_started(p project_ledger, v asker, p_need int, p_own bigint[], p_now timestamptz,
                              OUT got bigint[], OUT blocked bigint, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE w record; ids bigint[]; o bigint;
BEGIN
    got := '{}'; cut := false;
    FOR nth IN 1..p_need LOOP
        o := floor(random() * p.n_ordinals);
        ids := ARRAY(SELECT task_id FROM task_ledger WHERE project_id = p.project_id AND open
                        AND ordinal = ANY (ARRAY(SELECT 1 + (o + further) % greatest(p.n_ordinals, 1) FROM generate_series(0, 29) further))
                      ORDER BY answers + leases DESC, random());
        w := lease_some(p, v, ids, NULL, 1, p_own || got, p_now);
        got := got || w.got; cut := cut OR w.cut;
    END LOOP;
END $$;

-- The first two hundred tasks that the caller could take in the order of any attribute (p_order: sort/<attribute>/<asc or desc>),
-- of one level or of all. Sorts what is open: its cost grows with the project, and the time-out of the statement ends it.
CREATE FUNCTION sorted(p project_ledger, v asker, p_own bigint[], p_level int, p_order text) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE ids bigint[];
BEGIN
    EXECUTE format($q$
        SELECT array_agg(id ORDER BY o) FROM (
            SELECT t.id, row_number() OVER () AS o FROM (
                SELECT r.id FROM task_ledger l JOIN public_task_record r ON r.project_id = l.project_id AND r.id = l.task_id
                 WHERE l.project_id = $1 AND l.open AND NOT r.id = ANY ($2) AND ($4 IS NULL OR l.level = $4)
                   AND NOT EXISTS (SELECT FROM task_run x WHERE x.project_id = $1 AND x.task_id = l.task_id AND x.actor = ANY ($3))
                   AND ($5 IS NULL OR network_share($1, l.task_id, $5, $7) < $6)
                 ORDER BY r.%I %s, r.id LIMIT 200) t) u $q$, split_part(p_order, '/', 2), CASE WHEN p_order LIKE '%/desc' THEN 'DESC' ELSE 'ASC' END)
       INTO ids USING p.project_id, p_own, v.actors, p_level, v.shared, p.counted_per_network, v.every;
    RETURN coalesce(ids, '{}');
END $$;

-- The first eight tasks of a level in an order.
CREATE FUNCTION first_of_level(p project_ledger, v asker, p_own bigint[], p_level int, p_order text) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE p_order
        WHEN 'priority' THEN ARRAY(SELECT task_id FROM task_ledger WHERE project_id = p.project_id AND open AND mode = 'by_level' AND level = p_level
                                    ORDER BY rank, task_id LIMIT 8)
        WHEN 'priority-up' THEN ARRAY(SELECT task_id FROM task_ledger WHERE project_id = p.project_id AND open AND mode = 'by_level' AND level = p_level
                                       ORDER BY rank DESC, task_id DESC LIMIT 8)
        WHEN 'id' THEN ARRAY(SELECT task_id FROM task_ledger WHERE project_id = p.project_id AND open AND mode = 'by_level' AND level = p_level
                              ORDER BY task_id LIMIT 8)
        WHEN 'id-down' THEN ARRAY(SELECT task_id FROM task_ledger WHERE project_id = p.project_id AND open AND mode = 'by_level' AND level = p_level
                                   ORDER BY task_id DESC LIMIT 8)
        ELSE sorted(p, v, p_own, p_level, p_order) END;
END $$;

-- What comes to a volunteer last: tasks that they skipped.
CREATE FUNCTION lease_skipped(p project_ledger, v asker, p_need int, p_own bigint[], p_now timestamptz,
                              OUT got bigint[], OUT blocked bigint, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE w record; granted boolean;
BEGIN
    got := '{}'; cut := false;
    FOR w IN SELECT s.task_id, EXISTS (SELECT FROM task_ledger l WHERE l.project_id = s.project_id AND l.task_id = s.task_id AND l.open) AS open
               FROM expired_lease s WHERE s.project_id = p.project_id AND s.actor = v.actor AND s.skipped
                AND NOT share_taken(p, v, s.task_id) ORDER BY s.expires LIMIT 200 LOOP
        EXIT WHEN cardinality(got) >= p_need;
        IF NOT w.open THEN                              -- a stamp will bring it back, so that it need not fill this list
            PERFORM FROM task_ledger WHERE project_id = p.project_id AND task_id = w.task_id FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;
            cut := true;
            UPDATE expired_lease SET skipped = false WHERE project_id = p.project_id AND actor = v.actor AND task_id = w.task_id;
        ELSE
            granted := grant_lease(p, v, w.task_id, cardinality(p_own || got), false, NULL, p_now);
            IF granted THEN got := got || w.task_id; ELSIF granted IS NULL THEN cut := true; ELSE blocked := coalesce(blocked, w.task_id); END IF;
        END IF;
    END LOOP;
END $$;

-- The scans of an order, one after the other, for schedulers: what came back, then all others. In SQL, which becomes part of
-- the expression that calls it.
CREATE FUNCTION scans_of(p_order text, p_scan text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN p_scan IS NULL AND p_order NOT LIKE 'sort/%' THEN 'returns:' || p_order WHEN p_scan IS DISTINCT FROM p_order THEN p_order END $$;

-- Leases up to p_need new tasks: goes from scan to scan, as the project's scheduler says (next_scan). A task of a level that
-- somebody has locked is waited for, at that level: else many who ask at once would push others to the top.
CREATE FUNCTION find_tasks(p project_ledger, v asker, p_order text, p_need int, p_own bigint[], p_now timestamptz,
                           OUT got bigint[], OUT blocked bigint, OUT at_level int, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE w record; scan text; place record; word text; lvl int;
BEGIN
    got := '{}'; cut := false;
    LOOP
        EXIT WHEN cardinality(got) >= p_need;
        scan := next_scan(p, p_order, scan);
        EXIT WHEN scan IS NULL;
        word := split_part(scan, '/', 1);
        CASE
            WHEN word = 'level' THEN
                w := lease_from_scan(p, v, scan, start_at_level(p, v, scan), NULL, p_need - cardinality(got), p_own || got, p_now);
            WHEN word = 'first' THEN
                lvl := split_part(scan, '/', 2);
                w := lease_some(p, v, first_of_level(p, v, p_own || got, lvl, p_order), lvl, p_need - cardinality(got), p_own || got, p_now);
            WHEN word = 'random' THEN
                w := lease_random(p, v, p_need - cardinality(got), p_own || got, p_now);
            WHEN word = 'started' THEN
                w := lease_started(p, v, p_need - cardinality(got), p_own || got, p_now);
            WHEN word = 'sort' THEN
                w := lease_some(p, v, sorted(p, v, p_own || got, NULL, scan), NULL, p_need - cardinality(got), p_own || got, p_now);
            ELSE
                IF place IS NULL THEN place := start_in_order(p, v, p_order); END IF;
                IF scan = p_order THEN
                    IF p_need = 1 THEN
                        w := take_first(p, v, p_order, place.main, p_own, p_now);
                        got := w.got; cut := cut OR w.cut;
                        EXIT WHEN got <> '{}';
                    END IF;
                ELSIF nothing_returned(p, place.returned) THEN CONTINUE;
                END IF;
                w := lease_from_scan(p, v, scan, CASE scan WHEN p_order THEN place.main ELSE place.returned END, place.main,
                          p_need - cardinality(got), p_own || got, p_now);
        END CASE;
        got := got || w.got; blocked := coalesce(blocked, w.blocked); cut := cut OR w.cut;
        IF word = 'level' AND w.blocked IS NOT NULL THEN at_level := split_part(scan, '/', 2); blocked := w.blocked; END IF;
        EXIT WHEN word = 'level' AND (w.cut OR w.blocked IS NOT NULL);          -- the next level would come before the rest of this one
    END LOOP;
    IF cardinality(got) < p_need AND NOT cut AND at_level IS NULL THEN
        w := lease_skipped(p, v, p_need - cardinality(got), p_own || got, p_now);
        got := got || w.got; blocked := coalesce(blocked, w.blocked); cut := cut OR w.cut;
    END IF;
END $$;
