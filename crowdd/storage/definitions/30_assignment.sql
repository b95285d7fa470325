-- Asking for tasks: exact redundancy at a cost that does not grow with tasks, answers, or the answers of the volunteer.
--
-- Positions. A full task is in no partial index, so it is passed without being seen. Whatever makes a place free again
-- stamps the row with its transaction id; a lane ordered by that stamp is followed up to the oldest transaction still
-- running (pg_snapshot_xmin), never beyond. A position stops before the first row that somebody had locked.
-- Among the returned tasks only those count that lie behind the caller in his order; what is ahead comes in its turn.

-- Takes lapsed leases back, at most 20 per request, leaving alone what another request is busy with. Returns the rows locked.
CREATE FUNCTION take_back(p_project bigint, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; n int := 0;
BEGIN
    FOR r IN SELECT task_id, actor FROM lease WHERE project_id = p_project AND expires <= p_now ORDER BY expires LIMIT 20 LOOP
        PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        n := n + 1;
        WITH gone AS (DELETE FROM lease WHERE project_id = p_project AND actor = r.actor AND task_id = r.task_id AND expires <= p_now RETURNING *)
        INSERT INTO past_lease SELECT project_id, actor, task_id, granted, expires, false FROM gone;
        CONTINUE WHEN NOT FOUND;                        -- a neighbour was faster
        UPDATE task_ledger SET leases = leases - 1 WHERE project_id = p_project AND task_id = r.task_id;
        PERFORM settle(p_project, r.task_id, false, p_now);
    END LOOP;
    RETURN n;
END $$;

-- Leases one open task unless it is full by now, being changed by somebody (then p_wait decides), or no longer at the level
-- where he found it (else 40 newcomers push the first tasks to the top). Null: the caller has just answered it himself; then
-- its row stays locked.
CREATE FUNCTION grant_lease(p project_ledger, p_actor text, p_task bigint, p_first boolean, p_wait boolean, p_level int, p_now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE m "char";
BEGIN
    IF p_wait THEN
        SELECT mode INTO m FROM task_ledger WHERE project_id = p.project_id AND task_id = p_task AND open FOR UPDATE;
    ELSE
        SELECT mode INTO m FROM task_ledger
         WHERE project_id = p.project_id AND task_id = p_task AND open AND (p_level IS NULL OR level = p_level) FOR UPDATE SKIP LOCKED;
    END IF;
    IF NOT FOUND THEN RETURN false; END IF;
    IF EXISTS (SELECT FROM task_run WHERE project_id = p.project_id AND task_id = p_task AND actor = p_actor) THEN RETURN NULL; END IF;
    UPDATE task_ledger SET leases = leases + 1, entered = CASE m WHEN 'b' THEN stamp(p.project_id) ELSE entered END
     WHERE project_id = p.project_id AND task_id = p_task;
    DELETE FROM past_lease WHERE project_id = p.project_id AND actor = p_actor AND task_id = p_task;
    INSERT INTO lease (project_id, actor, task_id, granted, expires)
    VALUES (p.project_id, p_actor, p_task, p_now, p_now + CASE WHEN p_first THEN p.lease ELSE p.preload END);
    RETURN true;
END $$;

CREATE FUNCTION set_position(p_project bigint, p_actor text, p_lane text, p1 float8, p2 bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO position VALUES (p_project, p_actor, p_lane, p1, p2) ON CONFLICT (project_id, actor, lane) DO UPDATE SET k1 = p1, k2 = p2;
END $$;

-- A place on a lane, and whether it is the lane's floor: the position of nobody, which passes only what was not open.
-- Newcomers start there, else they would read all index entries that died since the last VACUUM.
CREATE TYPE spot AS (k1 float8, k2 bigint, at_floor boolean);

-- Where the caller starts on a lane by level.
CREATE FUNCTION start_at_level(p project_ledger, p_actor text, p_lane text) RETURNS spot LANGUAGE plpgsql AS $$
DECLARE s spot := ('-infinity', 0, true); r record;
BEGIN
    FOR r IN SELECT actor, k1, k2 FROM position WHERE project_id = p.project_id AND actor IN ('', p_actor) AND lane = p_lane || '/' || p.epoch LOOP
        IF (r.k1, r.k2) > (s.k1, s.k2) THEN s := (r.k1, r.k2, r.actor = ''); END IF;
    END LOOP;
    RETURN s;
END $$;

-- Where the caller starts in an order and among the tasks that returned to it. An open task behind the floor of an order has
-- a stamp beyond the floor of its returns. Who has come further among the returns than that may have passed it there, as one
-- that was still ahead of him: he keeps to his own position in the order.
CREATE FUNCTION start_in_order(p project_ledger, p_actor text, p_order text, OUT main spot, OUT returned spot) LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
    main := ('-infinity', 0, true); returned := main;
    FOR r IN SELECT actor, lane LIKE 'returns:%' AS of_returns, k1, k2 FROM position    -- his own first
              WHERE project_id = p.project_id AND actor IN ('', p_actor)
                AND lane IN (p_order || '/' || p.epoch, 'returns:' || p_order || '/' || p.epoch) ORDER BY actor = '', 2 DESC LOOP
        IF r.of_returns THEN
            IF (r.k1, r.k2) > (returned.k1, returned.k2) THEN returned := (r.k1, r.k2, r.actor = ''); END IF;
        ELSIF (r.k1, r.k2) > (main.k1, main.k2) AND (r.actor <> '' OR returned.at_floor) THEN main := (r.k1, r.k2, r.actor = '');
        END IF;
    END LOOP;
END $$;

-- Walks a lane from where the caller is (f) and leases up to p_need tasks. A scheduler is a list of lanes; a lane is an index
-- scan that yields (task, k1, k2). The position is saved; it stops before the first task that was locked by somebody.
-- m: where he is in the order, whose returned tasks these are. cut: there may be more, ask again.
CREATE FUNCTION walk(p project_ledger, p_actor text, p_lane text, f spot, m spot, p_need int, p_own bigint[], p_now timestamptz,
                     OUT got bigint[], OUT blocked bigint, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE
    c refcursor; r record; p1 float8 := f.k1; p2 bigint := f.k2; g1 float8; g2 bigint; seen int := 0; horizon float8;
    granted boolean; moves boolean := p_lane NOT IN ('priority', 'id'); more boolean; here text := p_lane || '/' || p.epoch;
    lvl int := substring(p_lane FROM 'level/(.*)'); ord text := substring(p_lane FROM 'returns:(.*)');
BEGIN
    got := '{}'; cut := false;
    horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint + p.xid_base;      -- before the scan takes its snapshot
    IF p_lane = 'priority' THEN OPEN c FOR SELECT task_id, rank AS k1, task_id AS k2, NULL::float8 AS ahead FROM task_ledger
        WHERE project_id = p.project_id AND open AND (rank, task_id) > (f.k1, f.k2) ORDER BY rank, task_id;
    ELSIF p_lane = 'id' THEN OPEN c FOR SELECT task_id, 0::float8 AS k1, task_id AS k2, NULL::float8 AS ahead FROM task_ledger
        WHERE project_id = p.project_id AND open AND task_id > f.k2 ORDER BY task_id;
    ELSIF ord IS NOT NULL THEN OPEN c FOR SELECT task_id, entered::float8 AS k1, task_id AS k2, CASE ord WHEN 'id' THEN 0 ELSE rank END AS ahead FROM task_ledger
        WHERE project_id = p.project_id AND open AND entered IS NOT NULL AND (entered, task_id) > (greatest(f.k1, 0)::bigint, f.k2) ORDER BY entered, task_id;
    ELSE OPEN c FOR SELECT task_id, entered::float8 AS k1, task_id AS k2, NULL::float8 AS ahead FROM task_ledger         -- 'level/3'
        WHERE project_id = p.project_id AND open AND mode = 'b' AND level = lvl
          AND (entered, task_id) > (greatest(f.k1, 0)::bigint, f.k2) ORDER BY entered, task_id;
    END IF;
    LOOP
        EXIT WHEN cardinality(got) >= p_need;
        cut := cut OR seen >= 200;                      -- a bounded walk per request
        EXIT WHEN cut;
        FETCH c INTO r;
        more := FOUND;
        IF seen = 0 AND f.at_floor AND (more OR moves) THEN       -- raise the floor; seldom on a lane of stamps, where it always could
            IF moves AND (NOT more OR r.k1 >= horizon) THEN g1 := horizon; g2 := 0; ELSE g1 := r.k1; g2 := r.k2 - 1; END IF;
            IF (g1, g2) > (f.k1 + moves::int * 10000, f.k2) AND pg_try_advisory_xact_lock(hashtextextended('floor/' || here, p.project_id)) THEN
                PERFORM set_position(p.project_id, '', here, g1, g2);                   -- never waits
            END IF;
        END IF;
        EXIT WHEN NOT more;
        seen := seen + 1;
        IF (r.ahead, r.task_id) > (m.k1, m.k2) OR r.task_id = ANY (p_own || got)
           OR EXISTS (SELECT FROM task_run WHERE project_id = p.project_id AND task_id = r.task_id AND actor = p_actor)
           OR EXISTS (SELECT FROM past_lease WHERE project_id = p.project_id AND actor = p_actor AND task_id = r.task_id AND skipped) THEN NULL;
        ELSE
            granted := grant_lease(p, p_actor, r.task_id, cardinality(p_own || got) = 0, false, lvl, p_now);
            IF granted THEN got := got || r.task_id; ELSIF granted IS NULL THEN cut := true; ELSE blocked := coalesce(blocked, r.task_id); END IF;
        END IF;
        IF blocked IS NULL THEN p1 := r.k1; p2 := r.k2; END IF;
    END LOOP;
    CLOSE c;
    IF moves AND p1 >= horizon THEN p1 := horizon; p2 := 0; END IF;
    IF (p1, p2) > (f.k1, f.k2) THEN
        PERFORM set_position(p.project_id, p_actor, here, p1, p2);
        IF ord IS NOT NULL AND m.at_floor THEN PERFORM set_position(p.project_id, p_actor, ord || '/' || p.epoch, m.k1, m.k2); END IF;
    END IF;
END $$;

-- Leases up to p_need new tasks. random rejects at random among the dense ordinals, which is exactly uniform over the
-- tasks that are open to the caller; where those are rare the lanes find what chance does not.
CREATE FUNCTION find_tasks(p project_ledger, p_actor text, p_order text, p_need int, p_own bigint[], p_now timestamptz,
                           OUT got bigint[], OUT blocked bigint, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE w record; t bigint; o bigint; granted boolean; lvl int := -1; lane text; place record;
BEGIN
    got := '{}'; cut := false;
    IF p.sched = 'random' THEN
        FOR tries IN 1..30 LOOP
            EXIT WHEN cardinality(got) >= p_need;
            o := 1 + floor(random() * p.n_ordinals);
            SELECT task_id INTO t FROM task_ledger WHERE project_id = p.project_id AND ordinal = o AND open;
            CONTINUE WHEN t IS NULL OR t = ANY (p_own || got)
                OR EXISTS (SELECT FROM task_run WHERE project_id = p.project_id AND task_id = t AND actor = p_actor)
                OR EXISTS (SELECT FROM past_lease WHERE project_id = p.project_id AND actor = p_actor AND task_id = t AND skipped);
            granted := grant_lease(p, p_actor, t, cardinality(p_own || got) = 0, false, NULL, p_now);
            IF granted THEN got := got || t; ELSIF granted IS NULL THEN cut := true; END IF;
        END LOOP;
    END IF;
    IF p.sched <> 'breadth_first' THEN
        place := start_in_order(p, p_actor, p_order);
        FOREACH lane IN ARRAY ARRAY['returns:' || p_order, p_order] LOOP
            EXIT WHEN cardinality(got) >= p_need;
            w := walk(p, p_actor, lane, CASE lane WHEN p_order THEN place.main ELSE place.returned END, place.main,
                      p_need - cardinality(got), p_own || got, p_now);
            got := got || w.got; blocked := coalesce(blocked, w.blocked); cut := cut OR w.cut;
        END LOOP;
    ELSE
        LOOP                                            -- one lane per level, from the lowest that has open tasks
            EXIT WHEN cardinality(got) >= p_need OR cut;
            SELECT level INTO lvl FROM task_ledger WHERE project_id = p.project_id AND open AND mode = 'b' AND level > lvl ORDER BY level LIMIT 1;
            EXIT WHEN lvl IS NULL;
            lane := 'level/' || lvl;
            w := walk(p, p_actor, lane, start_at_level(p, p_actor, lane), NULL, p_need - cardinality(got), p_own || got, p_now);
            got := got || w.got; blocked := coalesce(blocked, w.blocked); cut := w.cut;
        END LOOP;
    END IF;
    IF cardinality(got) < p_need AND NOT cut THEN       -- what the caller skipped comes to him last
        FOR w IN SELECT s.task_id, EXISTS (SELECT FROM task_ledger l WHERE l.project_id = s.project_id AND l.task_id = s.task_id AND l.open) AS open
                   FROM past_lease s WHERE s.project_id = p.project_id AND s.actor = p_actor AND s.skipped ORDER BY s.expires LIMIT 200 LOOP
            EXIT WHEN cardinality(got) >= p_need;
            IF NOT w.open THEN                          -- a stamp will bring it back, so that it need not fill this list
                PERFORM FROM task_ledger WHERE project_id = p.project_id AND task_id = w.task_id FOR UPDATE SKIP LOCKED;
                CONTINUE WHEN NOT FOUND;
                cut := true;
                UPDATE past_lease SET skipped = false WHERE project_id = p.project_id AND actor = p_actor AND task_id = w.task_id;
            ELSE
                granted := grant_lease(p, p_actor, w.task_id, cardinality(p_own || got) = 0, false, NULL, p_now);
                IF granted THEN got := got || w.task_id; ELSIF granted IS NULL THEN cut := true; ELSE blocked := coalesce(blocked, w.task_id); END IF;
            END IF;
        END LOOP;
    END IF;
END $$;

-- When the first lease lapses that somebody else has on a task that the caller could answer; null: never.
CREATE FUNCTION next_lapse(p_project bigint, p_actor text) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE l record;
BEGIN
    FOR l IN SELECT task_id, expires FROM lease WHERE project_id = p_project AND actor <> p_actor ORDER BY expires LOOP
        CONTINUE WHEN EXISTS (SELECT FROM task_run r WHERE r.project_id = p_project AND r.task_id = l.task_id AND r.actor = p_actor);
        RETURN l.expires;
    END LOOP;
    RETURN NULL;
END $$;

-- Why this volunteer may not be handed tasks of the project at all, or null.
CREATE FUNCTION barred(p project_ledger, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF p.project_id IS NULL THEN RETURN 'no project'; END IF;
    IF p.lock_id IS NOT NULL AND NOT p_admin AND NOT p.lock_id = ANY (p_unlocked)
       AND NOT EXISTS (SELECT FROM project WHERE id = p.project_id AND owners_ids @> ARRAY[p_user]) THEN RETURN 'locked'; END IF;
    IF p.members_only AND p_actor ~ '^[ci]:' THEN RETURN 'members only'; END IF;
    RETURN NULL;
END $$;

-- The caller's tasks at [offset, offset + limit) of one sequence: his leases in the order given, then new ones. All up to
-- the end of the window are leased: offset 1 asked before offset 0 must not give the same task twice.
-- state: ok; again (ask again at once: the walk was cut, or a row was busy); wait (open places are leased, see retry_at);
-- none; paused; and what barred says. Without p_wait it waits for nobody, so that many may share a transaction: what would
-- have to wait is "again".
CREATE FUNCTION next_tasks(p_project bigint, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[],
                           p_limit int, p_offset int, p_order text, p_now timestamptz, p_wait boolean DEFAULT true,
                           OUT state text, OUT tasks bigint[], OUT retry_at timestamptz) LANGUAGE plpgsql AS $$
DECLARE p project_ledger; own bigint[]; late bigint[]; got bigint[]; need int; active int; back int := 0; blocked bigint; cut boolean := false;
BEGIN
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project;
    state := barred(p, p_actor, p_user, p_admin, p_unlocked);
    IF state IS NOT NULL THEN RETURN; END IF;
    PERFORM set_config('synchronous_commit', 'off', true);                  -- a crash may lose leases of its last half second, never answers
    IF p_wait THEN PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));     -- the same person asking twice at once
    ELSIF NOT pg_try_advisory_xact_lock(hashtextextended(p_actor, p_project)) THEN state := 'again'; RETURN; END IF;
    SELECT coalesce(array_agg(task_id ORDER BY id), '{}'), array_agg(task_id ORDER BY task_id) FILTER (WHERE expires <= p_now)
      INTO own, late FROM lease WHERE project_id = p_project AND actor = p_actor;
    IF late IS NOT NULL AND NOT p_wait THEN state := 'again'; RETURN; END IF;
    IF late IS NOT NULL THEN                            -- expired, but still his: renew what nobody has taken back meanwhile
        PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (late) ORDER BY task_id FOR UPDATE;
        UPDATE lease SET expires = p_now + p.lease WHERE project_id = p_project AND actor = p_actor AND task_id = ANY (late);
        SELECT coalesce(array_agg(task_id ORDER BY id), '{}') INTO own FROM lease WHERE project_id = p_project AND actor = p_actor;
    END IF;
    need := least(p_offset + p_limit, 200) - cardinality(own);
    IF p.paused THEN need := 0; END IF;
    IF need > 0 THEN back := take_back(p_project, p_now); END IF;
    IF need > 0 AND p_offset + p_limit > 1 THEN         -- a preload must not take the last places from those who are here
        SELECT count(DISTINCT l.actor) INTO active FROM (SELECT actor FROM lease WHERE project_id = p_project ORDER BY expires DESC LIMIT 60) l;
        IF (SELECT coalesce(sum(CASE mode WHEN 'a' THEN active + 1 WHEN 'i' THEN 1 ELSE n_answers - answers - leases END), 0)
              FROM (SELECT * FROM task_ledger WHERE project_id = p_project AND open LIMIT active + 1) o) <= active THEN
            need := least(need, 1 - cardinality(own));
        END IF;
    END IF;
    IF need > 0 THEN
        SELECT f.got, f.blocked, f.cut INTO got, blocked, cut FROM find_tasks(p, p_actor, p_order, need, own, p_now) f;
        -- SKIP LOCKED says "nothing" while a neighbour holds the last open row: wait for it, unless we hold rows ourselves.
        IF p_wait AND got = '{}' AND blocked IS NOT NULL AND NOT cut AND back = 0 AND late IS NULL
           AND grant_lease(p, p_actor, blocked, own = '{}', true, NULL, p_now) THEN got := ARRAY[blocked]; END IF;
        own := own || got;
    END IF;
    tasks := own[p_offset + 1 : p_offset + p_limit];
    state := 'ok';
    IF tasks = '{}' THEN
        retry_at := next_lapse(p_project, p_actor);
        state := CASE WHEN p.paused THEN 'paused'
                      WHEN cut OR blocked IS NOT NULL OR back > 0 OR p.epoch <> (SELECT epoch FROM project_ledger WHERE project_id = p_project) THEN 'again'
                      WHEN retry_at IS NOT NULL THEN 'wait' ELSE 'none' END;
    END IF;
END $$;

-- Hands out one named task (the page of a task). leased; late (full: an answer will be stored and not counted); answered;
-- paused; no task; and what barred says.
CREATE FUNCTION hold_task(p_project bigint, p_actor text, p_user bigint, p_admin boolean, p_unlocked text[], p_task bigint, p_now timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE p project_ledger; t task_ledger; bar text;
BEGIN
    SELECT * INTO p FROM project_ledger WHERE project_id = p_project;
    bar := barred(p, p_actor, p_user, p_admin, p_unlocked);
    IF bar IS NOT NULL THEN RETURN bar; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    IF NOT FOUND THEN RETURN 'no task'; END IF;
    IF EXISTS (SELECT FROM task_run WHERE project_id = p_project AND task_id = p_task AND actor = p_actor) THEN RETURN 'answered'; END IF;
    UPDATE lease SET expires = greatest(expires, p_now + p.lease) WHERE project_id = p_project AND actor = p_actor AND task_id = p_task;
    IF FOUND THEN RETURN 'leased'; END IF;
    IF p.paused THEN RETURN 'paused'; END IF;
    IF t.open AND (SELECT count(*) FROM lease WHERE project_id = p_project AND actor = p_actor) < 200
       AND grant_lease(p, p_actor, p_task, true, true, NULL, p_now) THEN RETURN 'leased'; END IF;
    INSERT INTO past_lease (project_id, actor, task_id, granted, expires, skipped) VALUES (p_project, p_actor, p_task, p_now, p_now, false)
        ON CONFLICT (project_id, actor, task_id) DO NOTHING;
    RETURN 'late';
END $$;

-- Gives a lease back, as skipped or because the page closed. False: there was none.
CREATE FUNCTION release_task(p_project bigint, p_actor text, p_task bigint, p_skip boolean, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    WITH gone AS (DELETE FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = p_task RETURNING *)
    INSERT INTO past_lease SELECT project_id, actor, task_id, granted, p_now, p_skip FROM gone;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE task_ledger SET leases = leases - 1 WHERE project_id = p_project AND task_id = p_task;
    PERFORM settle(p_project, p_task, false, p_now);
    RETURN true;
END $$;
