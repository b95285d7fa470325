-- Calls for many volunteers in one transaction, with one statement and one commit
-- (crowdd/kernel/concurrency/batching.py).
--
-- Plain asks and answers of a batch, those that take_next and the beginning of submit do in few statements, are done together: to start
-- a statement costs more than what it finds for one more of them. All others follow one by one, and so do a batch of less than four and asks of
-- projects with gold tasks, of which each is drawn in the light of what those before it were given (take_drawn).
-- Each comes to what it would have come to alone, after those that are named before it.

-- Asks of a batch that are plain, and the task that each is handed, in the order in which they take places. What is refused here, for
-- whatever reason, next_tasks does behind it.
--
-- Each volunteer's first ask is looked at, under the volunteer's lock, and of those on one network the first where the rule about networks applies.
-- Of the open tasks behind each place it locks as many as these asks may fill. Tasks that stand side by side in the order make a run of places, and
-- asks take these in the order of their first task: so each gets the first task behind its place that those before have left open. A task that
-- somebody else has locked has no place here; who passes it keeps their position, to meet it again. Nobody passes a task that keeps a place.
CREATE FUNCTION take_together(p_asks jsonb, p_now timestamptz, OUT nths bigint[], OUT projects bigint[], OUT handed bigint[]) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE them record; able record; line record; asks int[] := '{}'; firsts int[] := '{}'; places int[] := '{}'; staying boolean[] := '{}'; refused int[];
        first int := 1; here int := 0; vacant int := 0; edge int := 1; blocked int := 0;
BEGIN
    WITH q AS MATERIALIZED (
        SELECT DISTINCT ON (project, actor) nth, project, actor, coalesce(network, '') AS network, also
          FROM ROWS FROM (jsonb_to_recordset(p_asks) AS (project bigint, actor text, maximum int, skip int, scan text, network text, also text)) WITH ORDINALITY
               AS q (project, actor, maximum, skip, scan, network, also, nth)
         WHERE maximum = 1 AND skip = 0 AND scan = 'priority' ORDER BY project, actor, nth)
    SELECT array_agg(nth) AS nths, array_agg(project) AS projects, array_agg(actor) AS actors, array_agg(network) AS networks, array_agg(also) AS also,
           array_agg(maximum) AS maximum, array_agg('priority/' || epoch) AS scans, array_agg(lease) AS leases INTO them
      FROM (SELECT DISTINCT ON (project, CASE WHEN maximum > 0 THEN network ELSE actor END) *
              FROM (SELECT q.*, p.epoch, p.lease, CASE WHEN q.network <> '' AND q.actor ~ '^[ci]:' THEN p.counted_per_network ELSE 0 END AS maximum
                      FROM (SELECT DISTINCT project FROM q) d
                     CROSS JOIN LATERAL (
                           SELECT epoch, lease, counted_per_network FROM project_ledger
                            WHERE project_id = d.project AND sched IN ('default', 'depth_first', 'locked') AND n_gold = 0
                              AND NOT (trial OR paused OR members_only OR has_bars) AND lock_id IS NULL
                              AND (SELECT true FROM lease WHERE -lease.project_id = -d.project AND expires <= p_now LIMIT 1) IS NULL OFFSET 0) p
                      JOIN q ON q.project = d.project) q
             ORDER BY project, CASE WHEN maximum > 0 THEN network ELSE actor END, nth OFFSET 0) q
     WHERE pg_try_advisory_xact_lock(hashtextextended(actor, project));
    IF them.nths IS NULL THEN RETURN; END IF;
    -- Who can have a task, and the first that they have not answered, of eight.
    SELECT array_agg(nth) AS nths, array_agg(ctid) AS positions, array_agg(project) AS projects, array_agg(rank) AS ranks, array_agg(task_id) AS tasks,
           array_agg(linked) AS linked INTO able
      FROM (SELECT a.nth, o.ctid, a.project, f.rank, f.task_id, w.linked
              FROM unnest(them.projects, them.actors, them.networks, them.also, them.maximum, them.scans) WITH ORDINALITY a (project, actor, network, also, maximum, scan, nth)
             CROSS JOIN LATERAL (SELECT others, others <> '{}' AS linked FROM (
                   SELECT ARRAY(SELECT other FROM same_person x WHERE x.actor = a.actor AND x.project_id IN (0, a.project)) AS others OFFSET 0) w OFFSET 0) w
             CROSS JOIN LATERAL (SELECT ctid, k1, k2 FROM position x WHERE x.project_id = a.project AND x.actor = a.actor
                                    AND x.scan = a.scan || CASE WHEN maximum > 0 THEN '@' || network ELSE '' END OFFSET 0) o
              LEFT JOIN LATERAL (SELECT k1, k2 FROM position x WHERE x.project_id = a.project AND x.actor = a.actor
                                    AND x.scan = 'returns:' || a.scan || CASE WHEN maximum > 0 THEN '@' || network ELSE '' END OFFSET 0) b ON true
              LEFT JOIN LATERAL (SELECT k1, k2 FROM position x WHERE x.project_id = a.project AND x.actor = '' AND x.scan = 'returns:' || a.scan OFFSET 0) r ON true
             CROSS JOIN LATERAL (
                   SELECT rank, task_id FROM (SELECT rank, task_id FROM task_ledger
                           WHERE project_id = a.project AND open AND (rank, task_id) > (o.k1, o.k2) ORDER BY rank, task_id LIMIT 8) l
                    WHERE CASE WHEN w.linked THEN (SELECT true FROM task_run x WHERE x.project_id = a.project AND x.task_id = l.task_id AND x.actor = ANY (a.actor || w.others) LIMIT 1)
                               ELSE (SELECT true FROM task_run x WHERE x.project_id = a.project AND x.task_id = l.task_id AND x.actor = a.actor) END IS NULL LIMIT 1) f
             WHERE (a.also IS NULL OR a.also = ANY (w.others))
               AND (NOT w.linked OR pg_try_advisory_xact_lock_shared(person_key(a.actor)))       -- as in passing_actors
               AND (SELECT true FROM lease x WHERE x.project_id = a.project AND x.actor = a.actor LIMIT 1) IS NULL
               AND (SELECT count(*) < 64 AND bool_or((x.rank, x.task_id) <= (o.k1, o.k2)              -- as in take_next
                               AND (SELECT true FROM task_run y WHERE y.project_id = a.project AND y.task_id = x.task_id AND y.actor = ANY (a.actor || w.others) LIMIT 1) IS NULL) IS NOT TRUE
                      FROM (SELECT rank, task_id FROM task_ledger WHERE project_id = a.project AND open AND requeued_xid IS NOT NULL
                               AND (requeued_xid, task_id) > (greatest(b.k1, r.k1, 0)::bigint, CASE WHEN b.k1 > r.k1 THEN b.k2 ELSE coalesce(r.k2, b.k2, 0) END)
                             ORDER BY requeued_xid, task_id LIMIT 64) x)
             ORDER BY project, rank, task_id, nth) a;
    IF able.nths IS NULL THEN RETURN; END IF;
    -- chained: the task before it in the order is here, too, and nobody needs another way than this to have it.
    SELECT array_agg(project) AS projects, array_agg(rank) AS ranks, array_agg(task_id) AS tasks, array_agg(chained) AS chained, array_agg(version) AS versions,
           array_agg(coalesce(free, 0)) AS free INTO line
      FROM (SELECT l.project, l.rank, l.task_id, l.chained, mine.version, mine.free
              FROM (SELECT f.project, x.rank, x.task_id, bool_or(x.chained) AS chained FROM (
                           SELECT project, rank, task, count(*) AS n FROM unnest(able.projects, able.ranks, able.tasks) f (project, rank, task) GROUP BY 1, 2, 3) f
                     CROSS JOIN LATERAL (
                           SELECT rank, task_id, lag(mode) OVER inside = 'limited' AS chained, sum(free) OVER inside - free AS before, first_value(free) OVER inside AS at_first
                             FROM (SELECT * FROM (SELECT rank, task_id, mode, n_answers - answers - leases AS free FROM task_ledger
                                    WHERE project_id = f.project AND open AND (rank, task_id) >= (f.rank, f.task) ORDER BY rank, task_id LIMIT 65) l LIMIT f.n + 1) l
                           WINDOW inside AS (ORDER BY rank, task_id)) x
                     WHERE x.before < f.n + x.at_first GROUP BY 1, 2, 3) l
              LEFT JOIN LATERAL (
                   SELECT ctid AS version, CASE WHEN open AND mode = 'limited' AND rank = l.rank THEN n_answers - answers - leases END AS free
                     FROM task_ledger WHERE project_id = l.project AND task_id = l.task_id FOR UPDATE SKIP LOCKED) mine ON true
             ORDER BY project, rank, task_id) t;
    FOR ask IN 1 .. cardinality(able.nths) LOOP
        WHILE (line.projects[first], line.ranks[first], line.tasks[first]) < (able.projects[ask], able.ranks[ask], able.tasks[ask]) LOOP first := first + 1; END LOOP;
        WHILE here < first OR vacant = 0 AND edge <= first LOOP
            here := here + 1; vacant := coalesce(line.free[here], 0);
            IF line.chained[here] IS NOT TRUE THEN edge := here; END IF;
            IF vacant = 0 THEN blocked := here; END IF;
        END LOOP;
        CONTINUE WHEN edge > first OR line.projects[here] IS DISTINCT FROM able.projects[ask];
        vacant := vacant - 1;
        asks := asks || ask; firsts := firsts || first; places := places || here; staying := staying || (blocked >= first AND blocked < here);
    END LOOP;
    IF asks = '{}' THEN RETURN; END IF;
    -- Under the lock: the volunteer has not answered it nor had it before, and their network has a place of its share.
    refused := ARRAY(
        SELECT u.nth FROM (SELECT u.nth, them.projects[able.nths[ask]] AS project, them.actors[able.nths[ask]] AS actor, them.networks[able.nths[ask]] AS network, them.maximum[able.nths[ask]] AS maximum, line.tasks[place] AS task,
                                  able.linked[ask] AS linked
                             FROM unnest(asks, places) WITH ORDINALITY u (ask, place, nth) OFFSET 0) u
         WHERE CASE WHEN u.linked THEN (SELECT true FROM task_run x WHERE x.project_id = u.project AND x.task_id = u.task
                        AND x.actor = ANY (u.actor || ARRAY(SELECT other FROM same_person s WHERE s.actor = u.actor AND s.project_id IN (0, u.project))) LIMIT 1)
                    ELSE (SELECT true FROM task_run x WHERE x.project_id = u.project AND x.task_id = u.task AND x.actor = u.actor) END
            OR (SELECT true FROM expired_lease x WHERE x.project_id = u.project AND x.actor = u.actor AND x.task_id = u.task)
            OR CASE WHEN u.maximum > 0 THEN (SELECT true FROM (
                    SELECT FROM task_run x WHERE x.user_ip = u.network AND x.project_id + 0 = u.project AND -x.task_id = -u.task AND x.counted UNION ALL
                    SELECT FROM lease x WHERE x.network = u.network AND x.project_id + 0 = u.project AND -x.task_id = -u.task AND x.actor ~ '^[ci]:') x
                    OFFSET u.maximum - 1 LIMIT 1) END);
    IF refused <> '{}' THEN                             -- and so is who passed a task that keeps a place by that
        SELECT array_agg(ask), array_agg(place), array_agg(stays) INTO asks, places, staying
          FROM (SELECT * FROM unnest(asks, firsts, places, staying) WITH ORDINALITY u (ask, first_, place, stays, nth)
                 WHERE NOT nth = ANY (refused) AND NOT EXISTS (SELECT FROM unnest(refused) r WHERE places[r] >= first_ AND places[r] < place) ORDER BY nth) u;
        IF asks IS NULL THEN RETURN; END IF;
    END IF;
    WITH g AS MATERIALIZED (
        SELECT u.*, row_number() OVER (PARTITION BY line.projects[place], network ORDER BY nth) AS of_network
          FROM (SELECT nth, able.nths[ask] AS ask, able.positions[ask] AS position, them.networks[able.nths[ask]] AS network, place, stays
                  FROM unnest(asks, places, staying) WITH ORDINALITY u (ask, place, stays, nth)) u),
    counted AS (UPDATE task_ledger l SET leases = l.leases + x.n FROM (SELECT place, count(*)::int AS n FROM g GROUP BY 1) x WHERE l.ctid = line.versions[x.place]),
    leased AS (
        INSERT INTO lease (project_id, actor, task_id, granted, expires, network, soft)
        SELECT line.projects[place], them.actors[ask], line.tasks[place], p_now, p_now + them.leases[ask], network, CASE WHEN network <> '' AND firm_of_network() < of_network
                   + (SELECT count(*) FROM (SELECT FROM lease x WHERE x.network = g.network AND x.project_id + 0 = line.projects[place] LIMIT firm_of_network()) x) THEN 1 ELSE 0 END
          FROM g ORDER BY nth),
    moved AS (UPDATE position o SET k1 = line.ranks[g.place], k2 = line.tasks[g.place], used = p_now FROM g WHERE o.ctid = g.position AND NOT g.stays)
    SELECT array_agg(them.nths[ask] ORDER BY nth), array_agg(line.projects[place] ORDER BY nth), array_agg(line.tasks[place] ORDER BY nth) INTO nths, projects, handed FROM g;
END $$;

-- Requests for tasks. Each has project, actor, me, is_admin, unlocked, maximum, skip, scan, network and also, as next_tasks
-- takes them; nth is its place in the array. Without p_wait no lock is waited for, and the state "again" means that the
-- request must be repeated alone.
CREATE FUNCTION ask_many(p_asks jsonb, p_wait boolean, p_now timestamptz)
RETURNS TABLE (nth bigint, project bigint, state text, retry_in interval, tasks bigint[], lapsed int) LANGUAGE plpgsql AS $$
DECLARE a record; n record; g record; done bigint[] := '{}';
BEGIN
    IF NOT p_wait AND jsonb_array_length(p_asks) >= 4 THEN
        PERFORM set_config('synchronous_commit', 'off', true);              -- as in next_tasks
        g := take_together(p_asks, p_now);
        IF g.nths IS NOT NULL THEN
            done := g.nths;
            RETURN QUERY SELECT u.nth, u.project, 'ok', NULL::interval, ARRAY[u.task], 0 FROM unnest(g.nths, g.projects, g.handed) u (nth, project, task);
            IF cardinality(done) = jsonb_array_length(p_asks) THEN RETURN; END IF;
        END IF;
    END IF;
    FOR a IN SELECT * FROM ROWS FROM (jsonb_to_recordset(p_asks)
             AS (project bigint, actor text, me bigint, is_admin boolean, unlocked text[], maximum int, skip int, scan text, network text, also text)) WITH ORDINALITY
             WHERE NOT ordinality = ANY (done) LOOP
        n := next_tasks(a.project, a.actor, a.me, a.is_admin, a.unlocked, a.maximum, a.skip, a.scan, p_now, p_wait, coalesce(a.network, ''), a.also);
        nth := a.ordinality; project := a.project; state := n.state; retry_in := n.retry_at - p_now; tasks := n.tasks; lapsed := n.lapsed;
        RETURN NEXT;
    END LOOP;
END $$;

-- Answers of a batch that are plain, in the order in which they are stored, as rows of submit_many. What is refused here, for whatever
-- reason, submit does behind it.
--
-- The first statement locks the tasks of all answers but those for which submit locks the project first, in the order of tasks. The second reads
-- the facts, which hold from then on, and writes; the row of a task is written once. Completions of tasks of projects without answer fields are a
-- third. Of others it is decided one by one whether a task that has what it wants so far has all that it needs.
CREATE FUNCTION submit_together(p_answers jsonb, p_now timestamptz, p_base bigint)
RETURNS TABLE (nth bigint, project bigint, actor text, state text, run bigint, granted timestamptz, late_seconds double precision) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE locked bigint[]; a record; f record; t task_ledger; o outcome; w weighed; changed bigint; more int;
BEGIN
    locked := (
        SELECT array_agg(a.nth) FILTER (WHERE a.plain) FROM (
               SELECT a.*, p.plain FROM ROWS FROM (jsonb_to_recordset(p_answers) AS (project bigint, actor text, task bigint, user_id bigint)) WITH ORDINALITY
                      AS a (project, actor, task, user_id, nth)
                CROSS JOIN LATERAL (SELECT sched <> 'incremental' AND NOT (has_bars OR has_label AND has_rules) AS plain FROM project_ledger
                                     WHERE project_id = a.project AND NOT trial OFFSET 0) p
                WHERE (a.user_id IS NULL OR (SELECT owners_ids @> ARRAY[a.user_id] FROM project WHERE id = a.project) IS NOT TRUE)
                  AND ((SELECT true FROM lease x WHERE x.project_id = a.project AND x.actor = a.actor AND x.task_id = a.task) OR
                       (SELECT true FROM expired_lease x WHERE x.project_id = a.project AND x.actor = a.actor AND x.task_id = a.task))
                ORDER BY task, nth OFFSET 0) a                          -- a nested loop, so that rows are locked in this order
         CROSS JOIN LATERAL (SELECT FROM task_ledger WHERE project_id = a.project AND task_id = a.task FOR UPDATE) t);
    IF locked IS NULL THEN RETURN; END IF;
    changed := pg_current_xact_id()::text::bigint + p_base;
    WITH g AS MATERIALIZED (
        SELECT *, turn = free AS fills, CASE WHEN turn = free THEN (SELECT answer_fields IS NULL FROM project WHERE id = g.project) IS TRUE
                       AND (SELECT true FROM result x WHERE x.project_id = g.project AND x.task_id = g.task LIMIT 1) IS NULL END AS simply
          FROM (SELECT a.nth, a.project, a.actor, a.task, a.user_id, a.ip, a.external, coalesce(a.info, 'null') AS said, a.calibration, a.media_url, a.circumstances,
                       e.granted, CASE WHEN p_now > e.expires THEN extract(epoch FROM p_now - e.expires)::float8 END AS late, t.version, t.free, p.has_label, k.class,
                       row_number() OVER (PARTITION BY a.task ORDER BY a.nth) AS turn
                  FROM (SELECT DISTINCT ON (task, actor) * FROM ROWS FROM (jsonb_to_recordset(p_answers) AS (project bigint, actor text, task bigint, user_id bigint,
                               ip text, external text, info jsonb, calibration bigint, media_url text, also text, circumstances jsonb)) WITH ORDINALITY
                               AS a (project, actor, task, user_id, ip, external, info, calibration, media_url, also, circumstances, nth)
                         WHERE nth = ANY (locked) ORDER BY task, actor, nth) a
                 CROSS JOIN LATERAL (SELECT counted_per_network, has_label FROM project_ledger
                         WHERE project_id = a.project AND sched <> 'incremental' AND NOT (trial OR has_bars OR has_label AND has_rules) OFFSET 0) p
                 CROSS JOIN LATERAL (SELECT granted, expires, network FROM lease x WHERE x.project_id = a.project AND x.actor = a.actor AND x.task_id = a.task OFFSET 0) e
                 CROSS JOIN LATERAL (SELECT ctid AS version, n_answers - answers AS free FROM task_ledger
                         WHERE project_id = a.project AND task_id = a.task AND NOT retired AND NOT done AND mode NOT IN ('gold', 'one_at_a_time') OFFSET 0) t
                 CROSS JOIN LATERAL (SELECT ARRAY(SELECT other FROM same_person x WHERE x.actor = a.actor AND x.project_id IN (0, a.project)) AS others OFFSET 0) w
                  LEFT JOIN LATERAL (SELECT c.class, c.reliable FROM class_of(a.project, a.actor, coalesce(a.info, 'null')) c WHERE p.has_label OFFSET 0) k ON true
                 WHERE (a.also IS NULL OR a.also = ANY (w.others)) AND k.reliable IS NOT FALSE
                   AND CASE WHEN w.others <> '{}' THEN NOT EXISTS (SELECT FROM task_run x WHERE x.project_id = a.project AND x.task_id = a.task AND x.actor = ANY (w.others))
                                                   AND NOT EXISTS (SELECT FROM lease x WHERE x.project_id = a.project AND x.task_id = a.task AND x.actor = ANY (w.others))
                                                   AND NOT EXISTS (SELECT FROM expired_lease x WHERE x.project_id = a.project AND x.task_id = a.task AND x.actor = ANY (w.others))
                            ELSE true END
                   AND CASE WHEN a.ip <> '' AND a.actor ~ '^[ci]:' THEN e.network = a.ip AND CASE WHEN p.counted_per_network > 0 THEN (SELECT true FROM (
                            SELECT FROM task_run x WHERE x.user_ip = a.ip AND x.project_id + 0 = a.project AND -x.task_id = -a.task AND x.counted UNION ALL
                            SELECT FROM lease x WHERE x.network = a.ip AND x.project_id + 0 = a.project AND -x.task_id = -a.task AND x.actor ~ '^[ci]:') s
                            OFFSET p.counted_per_network LIMIT 1) IS NULL ELSE true END
                            ELSE true END) g
         WHERE turn <= free),
    held AS (DELETE FROM lease e USING g WHERE e.project_id = g.project AND e.actor = g.actor AND e.task_id = g.task),
    total AS (
        UPDATE task_ledger t SET answers = t.answers + x.n, leases = t.leases - x.n, done = x.simply
          FROM (SELECT version, count(*)::int AS n, coalesce(bool_or(simply), false) AS simply FROM g GROUP BY 1 HAVING NOT bool_or(fills AND NOT simply)) x
         WHERE t.ctid = x.version),
    figures AS (
        INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, seconds, bytes)
        SELECT project, date_trunc('hour', p_now), actor, user_id, 1, 1, time_spent(granted, p_now, late), octet_length(said::text) FROM g WHERE NOT fills),
    stored AS (
        INSERT INTO task_run (project_id, task_id, actor, user_id, user_ip, external_uid, created, finish_time, counted, timeout, calibration, media_url, info, class, changed_xid, circumstances)
        SELECT project, task, actor, user_id, nullif(ip, ''), external, granted, p_now, true, late, calibration, media_url, said, class, changed, circumstances FROM g ORDER BY task, nth
        RETURNING id)
    SELECT array_agg(nth ORDER BY task, nth) AS nths, array_agg(project ORDER BY task, nth) AS projects, array_agg(actor ORDER BY task, nth) AS actors,
           array_agg(granted ORDER BY task, nth) AS granted, array_agg(late ORDER BY task, nth) AS late, (SELECT array_agg(id ORDER BY id) FROM stored) AS runs,
           jsonb_agg(jsonb_build_object('project', project, 'task', task, 'actor', actor, 'user_id', user_id, 'simply', simply, 'labelled', has_label, 'n', turn, 'seconds', time_spent(granted, p_now, late),
                                        'bytes', octet_length(said::text)) ORDER BY task) FILTER (WHERE fills) AS ends INTO a FROM g;
    IF a.nths IS NULL THEN RETURN; END IF;
    IF a.ends IS NOT NULL AND NOT a.ends @> '[{"simply": false}]' THEN          -- as complete does it for one
        WITH e AS MATERIALIZED (
            SELECT e.*, x.runs, x.users, s.consensus, s.consensus_hash, s.n_compared, s.agreement, s.confidence,
                   CASE WHEN p.answer_names IS NOT NULL THEN consensus_by_name(p.answer_names, s, NULL, NULL) END AS by_name
              FROM jsonb_to_recordset(a.ends) AS e (project bigint, task bigint, actor text, user_id bigint, seconds numeric, bytes bigint)
              JOIN project p ON p.id = e.project
             CROSS JOIN LATERAL (SELECT array_agg(run ORDER BY run) AS runs, coalesce(jsonb_agg(user_id ORDER BY run) FILTER (WHERE user_id IS NOT NULL), '[]') AS users,
                                        array_agg(value ORDER BY value) FILTER (WHERE value IS NOT NULL) AS answers FROM answer_values(e.project, e.task)) x
             CROSS JOIN LATERAL most_frequent(x.answers) s),
        done AS (
            INSERT INTO result (project_id, task_id, version, last_version, task_run_ids, created, consensus, consensus_hash, n_compared, agreement, confidence, changed_xid, completed_xid)
            SELECT project, task, 1, true, runs, p_now, consensus, consensus_hash, n_compared, agreement, confidence, changed, changed FROM e ORDER BY task
            RETURNING id, task_id),
        figures AS (
            INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, completed, seconds, bytes, outcomes, consensus_hash, n_compared, agreement)
            SELECT project, date_trunc('hour', p_now), actor, user_id, 1, 1, 1, seconds, bytes, 1, consensus_hash, n_compared, agreement FROM e)
        INSERT INTO event (project_id, kind, task_id, result_id, at, data)
        SELECT e.project, 'task_completed', e.task, done.id, p_now,
               jsonb_build_object('user_ids', users) || CASE WHEN octet_length(by_name::text) <= 2000 THEN jsonb_build_object('consensus', by_name) ELSE '{}' END
          FROM e JOIN done ON done.task_id = e.task ORDER BY e.task;
        a.ends := NULL;
    END IF;
    FOR f IN SELECT * FROM jsonb_to_recordset(a.ends)
             AS e (project bigint, task bigint, actor text, user_id bigint, simply boolean, labelled boolean, n int, seconds numeric, bytes bigint) LOOP
        SELECT * INTO t FROM task_ledger WHERE project_id = f.project AND task_id = f.task;
        t.done := false; o := NULL; w := NULL; more := 0;
        IF NOT f.simply THEN t.answers := t.answers + f.n; t.leases := t.leases - f.n; END IF;
        IF f.labelled THEN w := weigh(f.project, f.task); END IF;
        IF stops(t, w) THEN
            o := complete(t, false, p_now, w, changed);
        ELSE
            more := wanted_so_far(t, w.min_answers) - t.n_answers;
            UPDATE task_ledger SET answers = t.answers, leases = t.leases, n_answers = t.n_answers + more, requeued_xid = stamp(f.project) WHERE project_id = f.project AND task_id = f.task;
        END IF;
        INSERT INTO stat_delta (project_id, hour, actor, user_id, runs, counted, completed, wanted, seconds, bytes, outcomes, consensus_hash, n_compared, agreement)
        VALUES (f.project, date_trunc('hour', p_now), f.actor, f.user_id, 1, 1, coalesce(o.outcomes, 0), more, f.seconds, f.bytes, o.outcomes, o.consensus_hash, o.n_compared, o.agreement);
        IF more > 0 AND t.uncounted > 0 THEN PERFORM reconcile_task(f.project, f.task, false, p_now); END IF;
    END LOOP;
    RETURN QUERY SELECT u.nth, u.project, u.actor, 'counted', u.run, u.granted, u.late
                   FROM unnest(a.nths, a.projects, a.actors, a.runs, a.granted, a.late) u (nth, project, actor, run, granted, late);
END $$;

-- Answers. Each has project, actor, task, user_id, ip, external, info, calibration, media_url, also and
-- circumstances, as submit takes them;
-- nth is its place in the array. Plain ones and then the others are processed in the order of tasks, in which all code locks their
-- rows. With p_hurry the function waits only briefly for a locked row, so that one slow answer does not delay the others.
CREATE FUNCTION submit_many(p_answers jsonb, p_hurry boolean, p_now timestamptz)
RETURNS TABLE (nth bigint, project bigint, actor text, state text, run bigint, granted timestamptz, late_seconds double precision) LANGUAGE plpgsql AS $$
DECLARE a record; s record; base bigint := change_base(); n int := jsonb_array_length(p_answers); done bigint[] := '{}';
BEGIN
    IF p_hurry THEN PERFORM set_config('lock_timeout', '250ms', true); END IF;
    IF n >= 4 THEN
        FOR a IN SELECT * FROM submit_together(p_answers, p_now, base) LOOP
            done := done || a.nth; nth := a.nth; project := a.project; actor := a.actor; state := a.state; run := a.run; granted := a.granted; late_seconds := a.late_seconds;
            RETURN NEXT;
        END LOOP;
        IF cardinality(done) = n THEN RETURN; END IF;
    END IF;
    FOR a IN SELECT * FROM ROWS FROM (jsonb_to_recordset(p_answers) AS (project bigint, actor text, task bigint, user_id bigint, ip text,
             external text, info jsonb, calibration bigint, media_url text, also text, circumstances jsonb)) WITH ORDINALITY
             WHERE NOT ordinality = ANY (done) ORDER BY task, ordinality LOOP
        nth := a.ordinality; project := a.project; actor := a.actor;
        s := submit(a.project, a.actor, a.task, a.user_id, a.ip, a.external, coalesce(a.info, 'null'), a.calibration, a.media_url, p_now, base, a.also,
                    a.circumstances);
        state := s.state; run := s.run; granted := s.granted; late_seconds := s.late_seconds;
        RETURN NEXT;
    END LOOP;
END $$;
