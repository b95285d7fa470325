-- Chains: what comes out of one project becomes the tasks of the next (crowdd/features/chains).
--
-- A job follows the changes of the first project, as an export does (66_changes.sql), from the position of the link up to the oldest running
-- transaction. Which tasks there are to be says a pure function; follow_sources makes them so, and the position goes on in the same transaction.
-- So a job that is killed, or runs twice, leaves nothing out and makes nothing twice. The key of task_source is what makes a part one task. Who
-- calls follow_sources holds project_ledger of the next project (hold_imports).

-- The next tasks of a project with changes that may matter to the next step, behind the position of the link: new results, and of tasks that
-- something was made of also changes of themselves, and that they were deleted. In the order of positions.
CREATE FUNCTION changed_sources(l chain_link, p_before bigint, p_maximum int) RETURNS TABLE (task_id bigint, changed bigint) STABLE LANGUAGE sql AS $$
SELECT x.task_id, x.changed FROM (
    (SELECT r.task_id, r.changed_xid FROM result r
      WHERE -r.project_id = -(l).project_id AND r.changed_xid >= (l).position AND r.changed_xid < p_before AND (r.changed_xid, r.task_id) > ((l).position, (l).position_task)
      ORDER BY r.changed_xid, r.task_id LIMIT p_maximum)
    UNION
    (SELECT t.task_id, t.changed_xid FROM task_ledger t
      WHERE -t.project_id = -(l).project_id AND t.changed_xid >= (l).position AND t.changed_xid < p_before AND (t.changed_xid, t.task_id) > ((l).position, (l).position_task)
        AND (t.done OR EXISTS (SELECT FROM chain_source s WHERE s.source_task_id = t.task_id AND s.project_id = (l).next_project_id))
      ORDER BY t.changed_xid, t.task_id LIMIT p_maximum)
    UNION
    (SELECT d.id, d.changed_xid FROM tombstone d
      WHERE d.project_id = (l).project_id AND d.kind = 'task' AND d.changed_xid >= (l).position AND d.changed_xid < p_before AND (d.changed_xid, d.id) > ((l).position, (l).position_task)
        AND EXISTS (SELECT FROM chain_source s WHERE s.source_task_id = d.id AND s.project_id = (l).next_project_id)
      ORDER BY d.changed_xid, d.id LIMIT p_maximum)) x (task_id, changed)
 ORDER BY 2, 1 LIMIT p_maximum $$;

-- The sources of tasks of the next step that are marked as changed though nobody has answered them any more, or is at them any more.
CREATE FUNCTION open_sources(l chain_link, p_maximum int, p_now timestamptz) RETURNS SETOF bigint STABLE LANGUAGE sql AS $$
SELECT DISTINCT s.source_task_id FROM task_source s
  JOIN task_ledger t ON t.project_id = s.project_id AND t.task_id = s.task_id
  JOIN project_ledger p ON p.project_id = s.project_id
 WHERE (s.project_id + 0) = (l).next_project_id AND s.changed AND is_untouched(t, p.trial, p_now)
   AND EXISTS (SELECT FROM chain_source c WHERE c.source_task_id = s.source_task_id AND c.project_id = s.project_id AND c.parts IS NOT NULL)
 LIMIT p_maximum $$;

-- The next projects of the links that have something to follow, or whose position is p_idle transactions behind. The first project is no draft, and
-- somebody owns both.
CREATE FUNCTION due_links(p_idle int, p_now timestamptz) RETURNS SETOF bigint STABLE LANGUAGE sql AS $$
SELECT l.next_project_id FROM chain_link l JOIN project_ledger s ON s.project_id = l.project_id AND NOT s.trial
  JOIN project p ON p.id = l.project_id JOIN project n ON n.id = l.next_project_id AND n.owners_ids && p.owners_ids
 WHERE (l.retry_at IS NULL OR l.retry_at <= p_now)
   AND (l.failure IS NOT NULL OR l.position + p_idle < change_horizon() OR EXISTS (SELECT FROM changed_sources(l, change_horizon(), 1))
        OR EXISTS (SELECT FROM open_sources(l, 1, p_now)))
 ORDER BY l.created, 1 $$;

-- Whether a task may still become another one: nobody has answered it, and nobody is at it.
CREATE FUNCTION is_untouched(t task_ledger, p_trial boolean, p_now timestamptz) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT open_to_changes(t, p_trial, p_now) AND (t).mode <> 'gold' AND (p_trial OR (t).answers + (t).uncounted = 0) $$;

-- What tasks say: complete is null for one that was deleted; said has what the answers say at each answer field, as in result.further.
CREATE FUNCTION read_sources(p_project bigint, p_tasks bigint[])
RETURNS TABLE (task_id bigint, complete boolean, info jsonb, priority_0 float8, result_id bigint, names text[], said jsonb) STABLE LANGUAGE sql AS $$
SELECT u.id, CASE WHEN l.task_id IS NOT NULL THEN l.done AND l.mode <> 'gold' AND r.id IS NOT NULL END, t.info, l.priority_0, r.id, coalesce(p.answer_names, '{answer}'),
       jsonb_build_array(said_as_json((r.consensus, r.consensus_hash, r.n_compared, r.agreement, r.confidence)::said)) || coalesce(r.further, '[]')
  FROM unnest(p_tasks) u (id)
  LEFT JOIN project p ON p.id = p_project
  LEFT JOIN task_ledger l ON l.project_id = p_project AND l.task_id = u.id
  LEFT JOIN task t ON t.project_id = p_project AND t.id = u.id
  LEFT JOIN result r ON r.project_id = p_project AND r.task_id = u.id AND r.last_version $$;

-- Makes the tasks of the next step what they are to be. p_sources: {task, result, parts} each; parts has {part, place, info, n_answers, priority_0},
-- null: that cannot be said now, and what there is stays. A task that somebody has answered, or is at, is marked and stays as it is.
CREATE FUNCTION follow_sources(p_project bigint, p_sources jsonb, p_now timestamptz, OUT made bigint, OUT updated bigint, OUT deleted bigint, OUT marked bigint) LANGUAGE plpgsql AS $$
DECLARE r record; t task_ledger; trial_ boolean := (SELECT trial FROM project_ledger WHERE project_id = p_project); sources bigint[]; missing jsonb; ids bigint[];
        gone bigint[] := '{}'; untouched boolean;
BEGIN
    updated := 0; marked := 0;
    SELECT array_agg(task) INTO sources FROM jsonb_to_recordset(p_sources) v (task bigint, parts jsonb) WHERE parts IS NOT NULL;
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = ANY (ARRAY(
        SELECT task_id FROM task_source WHERE source_task_id = ANY (sources) AND project_id = p_project)) ORDER BY task_id FOR UPDATE;
    INSERT INTO chain_source (source_task_id, project_id, result_id, parts)
    SELECT task, p_project, result, CASE WHEN v.parts IS NOT NULL THEN ARRAY(SELECT e->>'part' FROM jsonb_array_elements(v.parts) WITH ORDINALITY p (e, nth) ORDER BY nth) END
      FROM jsonb_to_recordset(p_sources) v (task bigint, result bigint, parts jsonb) ORDER BY 1
        ON CONFLICT (source_task_id, project_id) DO UPDATE SET result_id = excluded.result_id, parts = excluded.parts;
    FOR r IN SELECT s.*, v.result, w.e, w.e->'info' AS info, md5((w.e->'info')::text)::uuid AS wanted
               FROM jsonb_to_recordset(p_sources) v (task bigint, result bigint, parts jsonb)
               JOIN task_source s ON s.source_task_id = v.task AND s.project_id = p_project
               LEFT JOIN LATERAL (SELECT e FROM jsonb_array_elements(v.parts) e WHERE e->>'part' = s.part) w ON true
              WHERE v.parts IS NOT NULL ORDER BY s.task_id LOOP
        SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id;
        untouched := FOUND AND is_untouched(t, trial_, p_now);
        IF r.wanted = r.digest OR r.task_id IS NULL AND r.e IS NOT NULL THEN
            UPDATE task_source SET place = r.e->'place', result_id = r.result, changed = false
             WHERE source_task_id = r.source_task_id AND project_id = p_project AND part = r.part AND (place, result_id, changed) IS DISTINCT FROM (r.e->'place', r.result, false);
        ELSIF untouched AND r.e IS NOT NULL THEN
            UPDATE task SET info = r.info WHERE project_id = p_project AND id = r.task_id;
            UPDATE task_source SET place = r.e->'place', digest = r.wanted, result_id = r.result, changed = false
             WHERE source_task_id = r.source_task_id AND project_id = p_project AND part = r.part;
            updated := updated + 1;
        ELSIF untouched OR r.task_id IS NULL THEN
            DELETE FROM task_source WHERE source_task_id = r.source_task_id AND project_id = p_project AND part = r.part;
            gone := array_append(gone, r.task_id);
        ELSE
            UPDATE task_source SET place = coalesce(r.e->'place', place), changed = true WHERE source_task_id = r.source_task_id AND project_id = p_project AND part = r.part;
            marked := marked + (NOT r.changed)::int;
        END IF;
    END LOOP;
    deleted := (delete_tasks(p_project, array_remove(gone, NULL), p_now)).tasks;
    SELECT jsonb_agg(e || jsonb_build_object('source', task, 'result', result) ORDER BY task, nth) INTO missing
      FROM jsonb_to_recordset(p_sources) v (task bigint, result bigint, parts jsonb) CROSS JOIN LATERAL jsonb_array_elements(v.parts) WITH ORDINALITY p (e, nth)
     WHERE v.parts IS NOT NULL AND NOT EXISTS (SELECT FROM task_source s WHERE s.source_task_id = v.task AND s.project_id = p_project AND s.part = e->>'part');
    made := coalesce(jsonb_array_length(missing), 0);
    IF made > 0 THEN
        ids := add_tasks(p_project, missing, p_now);
        INSERT INTO task_source (source_task_id, project_id, part, task_id, place, digest, result_id)
        SELECT (e->>'source')::bigint, p_project, e->>'part', ids[nth], e->'place', md5((e->'info')::text)::uuid, (e->>'result')::bigint
          FROM jsonb_array_elements(missing) WITH ORDINALITY m (e, nth);
    END IF;
    DELETE FROM chain_source c WHERE c.source_task_id = ANY (sources) AND c.project_id = p_project AND c.result_id IS NULL
       AND NOT EXISTS (SELECT FROM task_source s WHERE s.source_task_id = c.source_task_id AND s.project_id = p_project);
END $$;

-- Makes a project the next step of another one, or gives the step another rule: everything is followed once more. p_user: who runs both; null:
-- an administrator. Says ok; unknown: there is no such project of theirs, or nobody owns both; circle; taken: it is the next step of another
-- project; many: the first project has p_maximum next ones. Tasks that an owner had deleted are made again.
CREATE FUNCTION link_projects(p_project bigint, p_next bigint, p_rule jsonb, p_user bigint, p_maximum int, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('chain_link', 0));
    IF NOT EXISTS (SELECT FROM project p JOIN project n ON n.id = p_next AND n.owners_ids && p.owners_ids
                    WHERE p.id = p_project AND (p_user IS NULL OR p_user = ANY (p.owners_ids) AND p_user = ANY (n.owners_ids))) THEN RETURN 'unknown'; END IF;
    IF EXISTS (WITH RECURSIVE up (id) AS (SELECT p_project UNION SELECT l.project_id FROM chain_link l JOIN up ON l.next_project_id = up.id)
               SELECT FROM up WHERE id = p_next) THEN RETURN 'circle'; END IF;
    IF EXISTS (SELECT FROM chain_link WHERE next_project_id = p_next AND project_id <> p_project) THEN RETURN 'taken'; END IF;
    IF (SELECT count(*) FROM chain_link WHERE project_id = p_project AND next_project_id <> p_next) >= p_maximum THEN RETURN 'many'; END IF;
    INSERT INTO chain_link (next_project_id, project_id, rule, created) VALUES (p_next, p_project, p_rule, p_now)
        ON CONFLICT (next_project_id) DO UPDATE SET rule = excluded.rule, position = -1, position_task = 0, failure = NULL, retry_at = NULL;
    DELETE FROM task_source WHERE (project_id + 0) = p_next AND task_id IS NULL;
    RETURN 'ok';
END $$;

-- The public projects before and behind one in its chain, for volunteers.
CREATE FUNCTION steps_around(p_project bigint) RETURNS jsonb STABLE LANGUAGE sql AS $$
SELECT coalesce(jsonb_agg(jsonb_build_object('name', p.name, 'short_name', p.short_name, 'before', l.before, 'open', f.n_tasks > f.n_completed_tasks)
                          ORDER BY l.before, l.created, p.id), '[]')
  FROM (SELECT next_project_id AS id, false AS before, created FROM chain_link WHERE project_id = p_project UNION ALL
        SELECT project_id, true, created FROM chain_link WHERE next_project_id = p_project) l
  JOIN project p ON p.id = l.id AND p.published AND p.passwd_hash IS NULL
 CROSS JOIN LATERAL (SELECT n_tasks, n_completed_tasks FROM project_figures f WHERE f.project_id = p.id) f $$;
