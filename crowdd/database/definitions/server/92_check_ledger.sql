-- Recounts the ledger from the rows, in a running system. Every invariant of 20_submission.sql holds in each snapshot,
-- so an error that a single statement finds is real. A repair locks the affected tasks and lets reconcile_task correct
-- them.

-- Counts of answers and leases, and rows that should not exist.
CREATE FUNCTION check_places(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH runs AS (SELECT task_id, count(*) FILTER (WHERE counted) AS counted, count(*) FILTER (WHERE NOT counted) AS late
                FROM task_run WHERE project_id = p_project GROUP BY 1),
held AS (SELECT task_id, count(*) AS n FROM lease WHERE project_id = p_project GROUP BY 1),
counts AS (
    SELECT v.what, 'task ' || l.task_id AS key, v.stored, v.counted
      FROM task_ledger l LEFT JOIN runs r USING (task_id) LEFT JOIN held h USING (task_id),
           LATERAL (VALUES ('task_ledger.answers', l.answers, coalesce(r.counted, 0)), ('task_ledger.uncounted', l.uncounted, coalesce(r.late, 0)),
                           ('task_ledger.leases', l.leases, coalesce(h.n, 0))) v(what, stored, counted)
     WHERE l.project_id = p_project
), superfluous AS (
    SELECT x.what, 'task ' || x.task_id || ', ' || x.actor, 1, 0
      FROM (SELECT 'lease' AS what, task_id, actor FROM lease WHERE project_id = p_project UNION ALL
            SELECT 'expired_lease', task_id, actor FROM expired_lease WHERE project_id = p_project) x
     WHERE EXISTS (SELECT FROM task_run r WHERE r.project_id = p_project AND r.task_id = x.task_id AND r.actor = x.actor)
        OR NOT EXISTS (SELECT FROM task_ledger l WHERE l.project_id = p_project AND l.task_id = x.task_id)
        OR x.what = 'expired_lease' AND EXISTS (SELECT FROM lease h WHERE h.project_id = p_project AND h.task_id = x.task_id AND h.actor = x.actor)
)
SELECT p_project, * FROM (SELECT * FROM counts UNION ALL SELECT * FROM superfluous) d(what, key, stored, counted) WHERE stored <> counted ORDER BY 3, 2 $$;

CREATE FUNCTION repair_places(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t bigint;
BEGIN
    FOR t IN SELECT DISTINCT substring(key FROM 'task (\d+)')::bigint FROM check_places(p_project, p_now) ORDER BY 1 LOOP
        PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = t FOR UPDATE;
        DELETE FROM lease x WHERE project_id = p_project AND task_id = t
           AND (NOT FOUND OR EXISTS (SELECT FROM task_run r WHERE r.project_id = p_project AND r.task_id = t AND r.actor = x.actor));
        DELETE FROM expired_lease x WHERE project_id = p_project AND task_id = t
           AND (NOT EXISTS (SELECT FROM task_ledger l WHERE l.project_id = p_project AND l.task_id = t)
             OR EXISTS (SELECT FROM task_run r WHERE r.project_id = p_project AND r.task_id = t AND r.actor = x.actor)
             OR EXISTS (SELECT FROM lease h WHERE h.project_id = p_project AND h.task_id = t AND h.actor = x.actor));
        UPDATE task_ledger SET answers = r.counted, uncounted = r.late, leases = (SELECT count(*) FROM lease WHERE project_id = p_project AND task_id = t)
          FROM (SELECT count(*) FILTER (WHERE counted) AS counted, count(*) FILTER (WHERE NOT counted) AS late
                  FROM task_run WHERE project_id = p_project AND task_id = t) r
         WHERE project_id = p_project AND task_id = t;
        IF FOUND THEN PERFORM reconcile_task(p_project, t, false, p_now); END IF;
    END LOOP;
END $$;

-- Tasks to which two answers of linked volunteers count, and these two. Links that a job has still to look at are left out.
CREATE FUNCTION counted_twice(p_project bigint) RETURNS TABLE (task_id bigint, one text, other text) STABLE LANGUAGE sql AS $$
SELECT a.task_id, s.actor, s.other FROM same_person s
  JOIN task_run a ON a.project_id = p_project AND a.actor = s.actor AND a.counted
  JOIN task_run b ON b.project_id = p_project AND b.task_id = a.task_id AND b.actor = s.other AND b.counted
 WHERE s.actor < s.other AND s.project_id IN (0, p_project) AND s.due IS NULL $$;

CREATE FUNCTION check_links(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
SELECT p_project, 'tasks with two counted answers of one person', 'task ' || task_id, 1, 0 FROM counted_twice(p_project) GROUP BY task_id ORDER BY task_id $$;

CREATE FUNCTION repair_links(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM keep_earlier(p_project, ARRAY[task_id], one, other, p_now) FROM (SELECT * FROM counted_twice(p_project) ORDER BY task_id) t;
END $$;

-- Whether tasks are done and have their result, late answers that could count, and retirement. Relies on check_places.
CREATE FUNCTION check_states(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH runs AS (SELECT task_id, array_agg(id ORDER BY id) AS ids FROM task_run WHERE project_id = p_project AND counted GROUP BY 1),
last AS (SELECT task_id, count(*) AS n, min(task_run_ids) AS ids FROM result WHERE project_id = p_project AND last_version GROUP BY 1),
out AS (SELECT task_id FROM retirement WHERE project_id = p_project)
SELECT p_project, v.what, 'task ' || l.task_id, v.stored, v.counted
  FROM task_ledger l LEFT JOIN runs r USING (task_id) LEFT JOIN last x USING (task_id) LEFT JOIN out o USING (task_id),
       LATERAL (VALUES ('task_ledger.done', l.done::int, CASE WHEN l.mode::text = 'gold' THEN l.done ELSE is_complete(l.answers, l.n_answers) END::int),
                       ('last results', coalesce(x.n, 0), CASE WHEN l.done THEN 1 ELSE least(coalesce(x.n, 0), 1) END),
                       ('results of exactly the counted answers', CASE WHEN l.done THEN (x.ids IS NOT DISTINCT FROM r.ids)::int ELSE 1 END, 1),
                       ('late answers beside a free place', CASE WHEN l.retired THEN 0
                                 WHEN l.uncounted = 0 OR l.answers + CASE l.mode WHEN 'unlimited' THEN 0 ELSE l.leases END >= l.n_answers THEN 0
                            ELSE least(countable(l.project_id, l.task_id), l.n_answers - l.answers - CASE l.mode WHEN 'unlimited' THEN 0 ELSE l.leases END) END, 0),
                       ('task_ledger.retired', l.retired::int, (o.task_id IS NOT NULL)::int)) v(what, stored, counted)
 WHERE l.project_id = p_project AND v.stored <> v.counted ORDER BY l.task_id, 2 $$;

-- The column of the task decides whether it is retired; a missing reason is filled in.
CREATE FUNCTION repair_states(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record; out boolean;
BEGIN
    FOR r IN SELECT substring(key FROM 'task (\d+)')::bigint AS task_id, bool_or(what LIKE '%result%') AS again
               FROM check_states(p_project, p_now) GROUP BY 1 ORDER BY 1 LOOP
        SELECT retired INTO out FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id FOR UPDATE;
        IF out THEN INSERT INTO retirement VALUES (p_project, r.task_id, 'retired', '', NULL, p_now) ON CONFLICT DO NOTHING;
        ELSE DELETE FROM retirement WHERE project_id = p_project AND task_id = r.task_id; END IF;
        UPDATE task_ledger SET changed_xid = change_stamp() WHERE project_id = p_project AND task_id = r.task_id;
        PERFORM reconcile_task(p_project, r.task_id, r.again, p_now);
    END LOOP;
END $$;

-- What the last results of done tasks say of their answers, unless the project is due to be compared again. Relies on check_states.
CREATE FUNCTION check_agreement(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
SELECT p_project, v.what, 'task ' || l.task_id, v.stored, v.counted
  FROM task_ledger l JOIN result x ON x.project_id = l.project_id AND x.task_id = l.task_id AND x.last_version
 CROSS JOIN LATERAL consensus_with_compared(l.project_id, l.task_id) c
 CROSS JOIN LATERAL (VALUES ('result.n_compared', coalesce(x.n_compared, 0)::numeric, coalesce(c.n_compared, 0)::numeric),
                            ('result.agreement', coalesce(x.agreement, 0)::numeric, coalesce(c.agreement, 0)::numeric),
                            ('results with the consensus', ((x.consensus, x.consensus_hash, x.confidence) IS NOT DISTINCT FROM (c.consensus, c.consensus_hash, c.confidence))::int, 1),
                            ('results with the consensus of further fields', (x.further IS NOT DISTINCT FROM c.further)::int, 1)) v(what, stored, counted)
 WHERE l.project_id = p_project AND l.done AND v.stored <> v.counted
   AND NOT EXISTS (SELECT FROM agreement_due d WHERE d.project_id = p_project) ORDER BY l.task_id, 2 $$;

CREATE FUNCTION repair_agreement(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t bigint;
BEGIN
    FOR t IN SELECT DISTINCT substring(key FROM 'task (\d+)')::bigint FROM check_agreement(p_project, p_now) ORDER BY 1 LOOP
        PERFORM compare_result(p_project, t);
    END LOOP;
END $$;

-- Low-water marks that have passed an open task without a stamp, and stamps of transactions that do not exist yet, as
-- after a dump and restore. (Positions of single volunteers are too many to compare with every task.)
CREATE FUNCTION check_positions(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH p AS (SELECT *, pg_snapshot_xmax(pg_current_snapshot())::text::bigint + xid_base AS next FROM project_ledger
            WHERE project_id = p_project AND sched <> 'changing'),
low_water_marks AS (SELECT split_part(scan, '/' || p.epoch, 1) AS scan, k1, k2 FROM position JOIN p USING (project_id) WHERE actor = '' AND scan LIKE '%/' || p.epoch),
passed AS (
    SELECT f.scan, count(*) AS n
      FROM low_water_marks f LEFT JOIN low_water_marks r ON r.scan = 'returns:' || f.scan, task_ledger t
     WHERE t.project_id = p_project AND t.open AND CASE
           WHEN f.scan = 'level/' || t.level THEN (t.requeued_xid, t.task_id) <= (f.k1, f.k2)
           WHEN f.scan IN ('priority', 'priority-up', 'id', 'id-down') AND t.mode <> 'by_level' THEN
                (t.requeued_xid IS NULL OR (t.requeued_xid, t.task_id) <= (r.k1, r.k2))
                AND CASE f.scan WHEN 'priority' THEN (t.rank, t.task_id) <= (f.k1, f.k2)
                                WHEN 'priority-up' THEN (t.priority_0, t.task_id) <= (f.k1, f.k2)
                                WHEN 'id' THEN (0, t.task_id) <= (f.k1, f.k2) ELSE (0, -t.task_id) <= (f.k1, f.k2) END END
     GROUP BY 1
), early AS (
    SELECT count(*) AS n FROM task_ledger t JOIN p USING (project_id) WHERE t.requeued_xid > p.next UNION ALL
    SELECT count(*) FROM position x JOIN p USING (project_id) WHERE x.scan ~ '^(returns|level)' AND x.k1 > p.next
)
SELECT p_project, 'open tasks passed by the low-water mark', scan, n::numeric, 0::numeric FROM passed UNION ALL
SELECT p_project, 'stamps of the future', '', sum(n), 0 FROM early HAVING sum(n) > 0 $$;

-- Positions start again, after every existing stamp.
CREATE FUNCTION repair_positions(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    UPDATE project_ledger SET epoch = epoch + 1, xid_base = greatest(xid_base, 1 + greatest(
        (SELECT max(requeued_xid) FROM task_ledger WHERE project_id = p_project),
        (SELECT max(k1)::bigint FROM position WHERE project_id = p_project AND scan ~ '^(returns|level)'))) WHERE project_id = p_project;
    PERFORM forget_positions(p_project);
END $$;

-- Checks whether this is the PostgreSQL server that made the stamps. Another one, into which a dump was restored,
-- counts transactions differently: every project is corrected before it hands out a task. p_restored: the database has just
-- been restored, perhaps into the same server. Returns whether anything was corrected.
CREATE FUNCTION know_cluster(p_now timestamptz, p_restored boolean DEFAULT false) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE here bigint := (SELECT system_identifier FROM pg_control_system());
BEGIN
    INSERT INTO cluster (system_identifier) VALUES (here)
        ON CONFLICT (single) DO UPDATE SET system_identifier = here, change_base = cluster.change_base + (1::bigint << 40)
            WHERE cluster.system_identifier <> here OR p_restored;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE same_person SET due = '0' WHERE due IS NOT NULL;
    PERFORM know_positions();
    PERFORM repair_positions(project_id, p_now) FROM (SELECT project_id FROM project_ledger ORDER BY 1) p;
    RETURN true;
END $$;
