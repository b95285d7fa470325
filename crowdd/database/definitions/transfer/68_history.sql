-- What tasks were at a time. past_row has the versions that have ended: a row was at a time as its version with the smallest
-- (until, n) after that time says, or as it is, if there is none.

-- The columns that are kept of a row. A column with personal data must not be among them. Of an answer its volunteer's code is kept, too
-- (keep_version).
CREATE FUNCTION past_columns(p_kind text) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
SELECT CASE p_kind
    WHEN 'task' THEN '{id,project_id,created,info,quorum,calibration}'::text[]
    WHEN 'task_ledger' THEN '{project_id,task_id,n_answers,max_answers,priority_0,reopens}'
    WHEN 'retirement' THEN '{project_id,task_id,reason,note,at}'
    WHEN 'task_run' THEN '{id,project_id,task_id,created,finish_time,timeout,calibration,media_url,info,counted,gold,volunteer}'
    WHEN 'result' THEN '{id,project_id,task_id,version,last_version,task_run_ids,created,info,consensus,consensus_hash,n_compared,agreement,confidence,further,generation,posterior,reason,null_consensus}'
END $$;

-- Keeps a version that ends now. A row that has so many versions already keeps no further one when it changes: corrections of an answer
-- over and over must not fill the disk. The caller has locked the row, so that its versions end one after the other, even if a transaction
-- that began later was first.
CREATE FUNCTION keep_version(p_kind text, p_row jsonb, p_ends boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE k bigint := coalesce(p_row->>'id', p_row->>'task_id'); last timestamptz; n int;
BEGIN
    IF (SELECT since IS NULL FROM history) THEN RETURN; END IF;
    SELECT max(until), count(*) INTO last, n FROM (
        SELECT until FROM past_row WHERE project_id = (p_row->>'project_id')::bigint AND kind = p_kind AND id = k ORDER BY until DESC LIMIT 100) v;
    IF n = 100 AND NOT p_ends THEN RETURN; END IF;
    IF p_kind = 'task_run' THEN
        p_row := p_row || jsonb_build_object('volunteer', (SELECT word FROM volunteer_word
                  WHERE project_id = (p_row->>'project_id')::bigint AND actor = p_row->>'actor'));
    END IF;
    INSERT INTO past_row (project_id, kind, id, until, task_id, came, "row")
    VALUES ((p_row->>'project_id')::bigint, p_kind, k, greatest(clock(), last), coalesce(p_row->>'task_id', p_row->>'id')::bigint,
            coalesce(p_row->>'finish_time', p_row->>'at', p_row->>'created', '-infinity')::timestamptz,
            (SELECT jsonb_object_agg(key, value) FROM jsonb_each(p_row) WHERE key = ANY (past_columns(p_kind))));
END $$;

-- Tasks that are open although they have a last result were reopened before versions were kept: says so, at a time.
CREATE FUNCTION mark_reopened(p_at timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO past_row (project_id, kind, id, until, task_id, came, "row")
SELECT l.project_id, 'task_ledger', l.task_id, p_at, l.task_id, '-infinity', jsonb_build_object('project_id', l.project_id, 'task_id', l.task_id,
       'n_answers', l.n_answers, 'max_answers', l.max_answers, 'priority_0', l.priority_0, 'reopens', true)
  FROM task_ledger l WHERE NOT l.done AND EXISTS (SELECT FROM result r WHERE r.project_id = l.project_id AND r.task_id = l.task_id AND r.last_version) $$;

-- The version of a row that held at a time; null: it has not changed since.
CREATE FUNCTION past_version(p_project bigint, p_kind text, p_id bigint, p_at timestamptz) RETURNS past_row STABLE LANGUAGE sql AS $$
SELECT * FROM past_row WHERE project_id = p_project AND kind = p_kind AND id = p_id AND until > p_at ORDER BY until, n LIMIT 1 $$;

-- What owners had set of a task.
CREATE FUNCTION task_settings_at(p_project bigint, p_task bigint, p_at timestamptz, OUT n_answers int, OUT priority_0 float8) STABLE LANGUAGE sql AS $$
SELECT coalesce(r.max_answers, r.n_answers), r.priority_0
  FROM (SELECT (past_version(p_project, 'task_ledger', p_task, p_at))."row") h
  LEFT JOIN task_ledger l ON l.project_id = p_project AND l.task_id = p_task
 CROSS JOIN LATERAL jsonb_populate_record(l, coalesce(h."row", '{}')) r $$;

-- Why a task was retired; no row: it was not. Who did it is known while it lasts.
CREATE FUNCTION retirement_at(p_project bigint, p_task bigint, p_at timestamptz) RETURNS SETOF retirement STABLE LANGUAGE sql AS $$
WITH h AS MATERIALIZED (SELECT came, "row" FROM past_version(p_project, 'retirement', p_task, p_at) WHERE id IS NOT NULL)
SELECT r.* FROM h CROSS JOIN LATERAL jsonb_populate_record(NULL::retirement, h."row") r WHERE h.came <= p_at
UNION ALL
SELECT * FROM retirement WHERE project_id = p_project AND task_id = p_task AND at <= p_at AND NOT EXISTS (SELECT FROM h) $$;

-- Whether a task was complete: it had its result, and was not reopened after that.
CREATE FUNCTION complete_at(p_project bigint, p_task bigint, p_at timestamptz) RETURNS boolean STABLE LANGUAGE sql AS $$
WITH results AS (
    SELECT r.created FROM result r WHERE r.project_id = p_project AND r.task_id = p_task AND r.last_version AND r.created <= p_at
       AND NOT EXISTS (SELECT FROM past_row h WHERE h.project_id = p_project AND h.kind = 'result' AND h.id = r.id AND h.until > p_at)
    UNION ALL
    SELECT came FROM (SELECT DISTINCT ON (id) came, "row" FROM past_row
                       WHERE project_id = p_project AND kind = 'result' AND task_id = p_task AND until > p_at ORDER BY id, until, n) h
     WHERE came <= p_at AND ("row"->>'last_version')::boolean)
SELECT EXISTS (SELECT FROM results r WHERE NOT EXISTS (
    SELECT FROM past_row h WHERE h.project_id = p_project AND h.kind = 'task_ledger' AND h.id = p_task AND h.until > r.created AND h.until <= p_at AND h."row" ? 'reopens')) $$;

-- The figures of a project at a time: the columns of projectstats_record that are counted. Answers that were deleted since are counted. An answer that counts today and did not then found no place: those to a task that was open are at
-- most as many as it wanted. Answers that were set aside since do not count.
CREATE FUNCTION figures_at(p_project bigint, p_at timestamptz, OUT n_tasks bigint, OUT n_task_runs bigint, OUT n_results bigint, OUT n_volunteers bigint,
                           OUT n_completed_tasks bigint, OUT n_wanted bigint, OUT n_counted bigint, OUT average_time float8, OUT last_activity timestamptz, OUT n_gold int)
STABLE LANGUAGE sql AS $$
WITH past AS MATERIALIZED (
    SELECT DISTINCT ON (kind, id) kind, id, task_id, came, "row" FROM past_row WHERE project_id = p_project AND until > p_at ORDER BY kind, id, until, n
), tasks AS (
    SELECT id FROM task WHERE project_id = p_project AND created <= p_at
    UNION SELECT id FROM past WHERE kind = 'task' AND came <= p_at
), wanted AS (
    SELECT l.task_id, coalesce(l.max_answers, l.n_answers) AS n FROM task_ledger l LEFT JOIN past h ON h.kind = 'task_ledger' AND h.id = l.task_id
     WHERE l.project_id = p_project AND h.id IS NULL
    UNION ALL SELECT id, coalesce(("row"->>'max_answers')::int, ("row"->>'n_answers')::int) FROM past WHERE kind = 'task_ledger'
), retired AS (
    SELECT r.task_id, r.reason FROM retirement r LEFT JOIN past h ON h.kind = 'retirement' AND h.id = r.task_id
     WHERE r.project_id = p_project AND r.at <= p_at AND h.id IS NULL
    UNION ALL SELECT id, "row"->>'reason' FROM past WHERE kind = 'retirement' AND came <= p_at
), results AS MATERIALIZED (
    SELECT r.task_id, r.created, r.last_version, cardinality(r.task_run_ids) AS n, r.last_version AND coalesce(r.info, 'null') <> 'null' AS filled
      FROM result r LEFT JOIN past h ON h.kind = 'result' AND h.id = r.id WHERE r.project_id = p_project AND r.created <= p_at AND h.id IS NULL
    UNION ALL SELECT task_id, came, ("row"->>'last_version')::boolean, jsonb_array_length("row"->'task_run_ids'),
              ("row"->>'last_version')::boolean AND "row"->'info' <> 'null'
      FROM past WHERE kind = 'result' AND came <= p_at
), reopened AS (
    SELECT id, max(until) AS at FROM past_row WHERE project_id = p_project AND kind = 'task_ledger' AND until <= p_at AND "row" ? 'reopens' GROUP BY 1
), complete AS (
    SELECT r.task_id, r.n FROM results r LEFT JOIN reopened x ON x.id = r.task_id WHERE r.last_version AND (x.at > r.created) IS NOT TRUE
), runs AS MATERIALIZED (
    SELECT id, task_id, actor, counted, created, finish_time, timeout FROM task_run WHERE project_id = p_project AND finish_time <= p_at
    UNION ALL SELECT h.id, h.task_id, coalesce((SELECT w.actor FROM volunteer_word w WHERE w.project_id = p_project AND w.word = "row"->>'volunteer'), "row"->>'volunteer'), ("row"->>'counted')::boolean, ("row"->>'created')::timestamptz, h.came, ("row"->>'timeout')::float8
      FROM past h WHERE h.kind = 'task_run' AND h.came <= p_at AND NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = p_project AND r.id = h.id)
), answered AS (
    SELECT task_id, count(*) FILTER (WHERE counted) AS counted FROM runs GROUP BY 1
), each AS (
    SELECT x.reason, d.n IS NOT NULL AS done, CASE WHEN x.task_id IS NULL THEN w.n ELSE c.n END AS wanted, c.n AS counted
      FROM tasks t LEFT JOIN wanted w ON w.task_id = t.id LEFT JOIN retired x ON x.task_id = t.id LEFT JOIN answered a ON a.task_id = t.id
      LEFT JOIN complete d ON d.task_id = t.id CROSS JOIN LATERAL (SELECT coalesce(d.n, least(coalesce(a.counted, 0), w.n)) AS n) c)
SELECT count(*) FILTER (WHERE reason IS DISTINCT FROM 'gold'), (SELECT count(*) FROM runs), (SELECT count(*) FROM results WHERE filled),
       (SELECT count(DISTINCT actor) FROM runs), count(*) FILTER (WHERE (done OR reason IS NOT NULL) AND reason IS DISTINCT FROM 'gold'),
       sum(wanted), sum(counted),
       (SELECT coalesce(sum(time_spent(created, finish_time, timeout)) / nullif(count(*), 0), 0)::float8 FROM runs),
       (SELECT finish_time FROM runs ORDER BY id DESC LIMIT 1), (count(*) FILTER (WHERE reason = 'gold'))::int
  FROM each $$;

-- Empties the versions that are kept of answers that their volunteers have withdrawn: that there were answers stays known, not what they said or
-- whose they were.
CREATE FUNCTION strip_versions(p_project bigint, p_runs bigint[]) RETURNS void LANGUAGE sql AS $$
UPDATE past_row SET "row" = "row" - '{info,media_url,volunteer}'::text[] WHERE project_id = p_project AND kind = 'task_run' AND id = ANY (p_runs) $$;

-- Follows the setting: keeps versions from now on, or no longer. Transactions that run already do not see it, so the time from which on all is
-- kept comes a minute later. p_days 0: none are kept.
CREATE FUNCTION follow_history(p_days int) RETURNS void LANGUAGE sql AS $$
SELECT mark_reopened(clock()) FROM history WHERE since IS NULL AND p_days > 0;
UPDATE history SET since = CASE WHEN p_days > 0 THEN clock() + interval '1 minute' END WHERE (since IS NULL) = (p_days > 0) $$;

-- Deletes the next versions that have been kept for so many days, at most p_maximum, and remembers up to where. They are kept an hour longer
-- than they can be asked for, for those who read while they are deleted; and that a task was reopened is known as long as there is the task.
-- Returns how many there were.
CREATE FUNCTION prune_history(p_days int, p_maximum int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint; before timestamptz := CASE WHEN p_days > 0 THEN clock() - make_interval(days => p_days, hours => 1) ELSE 'infinity' END;
BEGIN
    IF p_days > 0 THEN UPDATE history SET since = before WHERE since < before; END IF;
    DELETE FROM past_row WHERE ctid = ANY (ARRAY(
        SELECT h.ctid FROM past_row h WHERE until < before
           AND NOT (p_days > 0 AND "row" ? 'reopens' AND EXISTS (SELECT FROM task_ledger l WHERE l.project_id = h.project_id AND l.task_id = h.id))
         ORDER BY until LIMIT p_maximum));
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;
