-- Counters. The transaction that changes something appends to stat_delta, the functions here fold these rows, and
-- readers add both.
--
-- Reading costs the unfolded rows of the same project (of all projects for ranks), and nothing else. Folding works in
-- chunks, so no transaction is long. Folded rows no longer cost readers time, even while old snapshots can still see
-- them (stat_floor). Code that changes a folded table holds lock_stats() first and takes no other lock after it.
-- Readers see appended and folded rows in one snapshot, so a counter is never partly updated.

-- The first transaction whose rows readers have to read. A value in the future comes from a dump of another server,
-- which counts transactions differently: then it is unknown. Use it as (SELECT unfolded_from()), which is evaluated
-- once, and within a project as (project_id, xact) >= (…, …), for which only the index by project can be used, whatever
-- the planner knows about the project.
CREATE FUNCTION unfolded_from() RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT CASE WHEN xact <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint THEN xact ELSE 0 END FROM stat_floor $$;

CREATE FUNCTION lock_stats() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(hashtextextended('fold_stats', 0)) $$;

-- The first day of the two weeks that end today, in UTC.
CREATE FUNCTION first_day(p_now timestamptz) RETURNS date IMMUTABLE LANGUAGE sql AS $$ SELECT (p_now AT TIME ZONE 'UTC')::date - 13 $$;

CREATE FUNCTION day_of(p_hour timestamptz) RETURNS date IMMUTABLE LANGUAGE sql AS $$ SELECT (p_hour AT TIME ZONE 'UTC')::date $$;

-- Moves at most p_most appended rows into the folded tables, one fold at a time. Returns how many rows were folded.
CREATE FUNCTION fold_stats(p_now timestamptz DEFAULT clock(), p_maximum int DEFAULT 5000) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint; since date := first_day(p_now);
BEGIN
    PERFORM lock_stats();
    WITH gone AS MATERIALIZED (
        DELETE FROM stat_delta WHERE ctid = ANY (ARRAY(SELECT ctid FROM stat_delta WHERE xact >= (SELECT unfolded_from()) ORDER BY xact LIMIT p_maximum)) RETURNING *
    ), of_project AS MATERIALIZED (
        SELECT *, day_of(hour) >= since AS lately FROM gone WHERE project_id <> 0
    ), person AS MATERIALIZED (
        SELECT d.user_id, CASE WHEN s.shown THEN s.runs END AS before, coalesce(s.runs, 0) + d.runs AS runs, coalesce(NOT a."restrict", false) AS shown
          FROM (SELECT user_id, sum(runs)::bigint AS runs FROM gone WHERE user_id IS NOT NULL GROUP BY 1) d
          LEFT JOIN LATERAL (SELECT runs, shown FROM person_stat WHERE user_id = d.user_id LIMIT 1) s ON true
          LEFT JOIN LATERAL (SELECT "restrict" FROM account WHERE id = d.user_id LIMIT 1) a ON true
    ), persons AS (
        INSERT INTO person_stat AS s (user_id, runs, shown) SELECT user_id, runs, shown FROM person ORDER BY 1
            ON CONFLICT (user_id) DO UPDATE SET runs = excluded.runs, shown = excluded.shown
    ), scores AS (
        INSERT INTO score_count AS s (level, bucket, people)
        SELECT level, score >> (6 * level), sum(more)
          FROM person, LATERAL (VALUES (before, -1), (CASE WHEN shown THEN runs END, 1)) m(score, more), generate_series(0, 3) level
         WHERE score IS NOT NULL GROUP BY 1, 2 HAVING sum(more) <> 0 ORDER BY 1, 2
            ON CONFLICT (level, bucket) DO UPDATE SET people = s.people + excluded.people
    ), hours AS (
        INSERT INTO project_hour AS s (project_id, hour, runs_anonymous, runs_authenticated, counted, completed)
        SELECT project_id, hour, coalesce(sum(runs) FILTER (WHERE actor NOT LIKE 'u:%'), 0), coalesce(sum(runs) FILTER (WHERE actor LIKE 'u:%'), 0),
               sum(counted), sum(completed)
          FROM of_project GROUP BY 1, 2 HAVING bool_or(runs <> 0 OR counted <> 0 OR completed <> 0) ORDER BY 1, 2
            ON CONFLICT (project_id, hour) DO UPDATE SET runs_anonymous = s.runs_anonymous + excluded.runs_anonymous,
               runs_authenticated = s.runs_authenticated + excluded.runs_authenticated, counted = s.counted + excluded.counted,
               completed = s.completed + excluded.completed
    ), days AS (
        INSERT INTO volunteer_day AS s (project_id, day, actor, runs)
        SELECT project_id, day_of(hour), actor, sum(runs) FROM of_project WHERE actor <> '' AND lately GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
            ON CONFLICT (project_id, day, actor) DO UPDATE SET runs = s.runs + excluded.runs
    ), per_person AS MATERIALIZED (
        SELECT d.*, coalesce(v.runs, 0) AS runs_before, coalesce(v.recent, 0) AS recent_before
          FROM (SELECT project_id, actor, sum(runs) AS runs, sum(seconds) AS seconds, coalesce(sum(runs) FILTER (WHERE lately), 0) AS recent
                  FROM of_project WHERE actor <> '' GROUP BY 1, 2) d
          LEFT JOIN LATERAL (SELECT runs, recent FROM volunteer WHERE project_id = d.project_id AND actor = d.actor LIMIT 1) v ON true
    ), volunteers AS (
        INSERT INTO volunteer AS s (project_id, actor, runs, seconds, recent)
        SELECT project_id, actor, runs, seconds, recent FROM per_person ORDER BY 1, 2
            ON CONFLICT (project_id, actor) DO UPDATE SET runs = s.runs + excluded.runs, seconds = s.seconds + excluded.seconds,
               recent = s.recent + excluded.recent
    ), people AS MATERIALIZED (
        SELECT project_id, actor LIKE 'u:%' AS known, sum((runs_before + runs > 0)::int - (runs_before > 0)::int) AS more,
               sum((recent_before + recent > 0)::int - (recent_before > 0)::int) AS recent
          FROM per_person GROUP BY 1, 2
    ), totals AS (
        SELECT project_id, sum(tasks) AS tasks, sum(wanted) AS wanted, sum(counted) AS counted, sum(completed) AS completed, sum(seconds) AS seconds,
               sum(results) AS results, sum(bytes) AS bytes,
               coalesce(sum(runs) FILTER (WHERE actor NOT LIKE 'u:%'), 0) AS runs_anonymous, coalesce(sum(runs) FILTER (WHERE actor LIKE 'u:%'), 0) AS runs_authenticated
          FROM of_project GROUP BY 1
    ), projects AS (
        INSERT INTO project_stat AS s (project_id, tasks, wanted, counted, completed, seconds, results, bytes, runs_anonymous, runs_authenticated,
                                       people_anonymous, people_authenticated, recent_anonymous, recent_authenticated)
        SELECT t.project_id, t.tasks, t.wanted, t.counted, t.completed, t.seconds, t.results, t.bytes, t.runs_anonymous, t.runs_authenticated,
               coalesce(a.more, 0), coalesce(u.more, 0), coalesce(a.recent, 0), coalesce(u.recent, 0)
          FROM totals t LEFT JOIN people a ON a.project_id = t.project_id AND NOT a.known LEFT JOIN people u ON u.project_id = t.project_id AND u.known
         ORDER BY 1
            ON CONFLICT (project_id) DO UPDATE SET tasks = s.tasks + excluded.tasks, wanted = s.wanted + excluded.wanted,
               counted = s.counted + excluded.counted, completed = s.completed + excluded.completed, seconds = s.seconds + excluded.seconds,
               results = s.results + excluded.results, bytes = s.bytes + excluded.bytes,
               runs_anonymous = s.runs_anonymous + excluded.runs_anonymous, runs_authenticated = s.runs_authenticated + excluded.runs_authenticated,
               people_anonymous = s.people_anonymous + excluded.people_anonymous, people_authenticated = s.people_authenticated + excluded.people_authenticated,
               recent_anonymous = s.recent_anonymous + excluded.recent_anonymous, recent_authenticated = s.recent_authenticated + excluded.recent_authenticated
    ), outcome AS MATERIALIZED (
        SELECT g.project_id, coalesce(g.field, 1::smallint) AS field, o.kind, o.hash, sum(o.tasks) AS tasks, sum(o.answers) AS answers, sum(o.several) AS several, sum(o.agreement) AS agreement,
               sum(o.half) AS half, sum(o.most) AS most, sum(o.unanimous) AS unanimous,
               (array_agg(g.value) FILTER (WHERE g.value IS NOT NULL))[1] AS value
          FROM of_project g, outcome_of(g.outcomes, g.consensus_hash, g.n_compared, g.agreement) o WHERE g.outcomes IS NOT NULL GROUP BY 1, 2, 3, 4
    ), newcomer AS MATERIALIZED (
        SELECT project_id, field, kind, hash, row_number() OVER (PARTITION BY project_id, field ORDER BY tasks DESC, hash) AS nth FROM outcome o
         WHERE kind = 'value' AND NOT EXISTS (SELECT FROM outcome_count c WHERE (c.project_id, c.field, c.kind, c.hash) = (o.project_id, o.field, o.kind, o.hash) OFFSET 0)
    ), other AS MATERIALIZED (
        SELECT project_id, field, kind, hash FROM newcomer
          JOIN (SELECT project_id, field, outcome_room(project_id, field) AS room FROM (SELECT DISTINCT project_id, field FROM newcomer) p) r USING (project_id, field) WHERE nth > room
    ), outcomes AS (
        INSERT INTO outcome_count AS s (project_id, field, kind, hash, tasks, answers, several, agreement, half, most, unanimous, value)
        SELECT project_id, field, CASE WHEN x.kind IS NULL THEN o.kind ELSE 'other' END, CASE WHEN x.kind IS NULL THEN o.hash ELSE 0 END,
               sum(tasks), sum(answers), sum(several), sum(agreement), sum(half), sum(most), sum(unanimous), (array_agg(value) FILTER (WHERE x.kind IS NULL))[1]
          FROM outcome o LEFT JOIN other x USING (project_id, field, kind, hash) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
            ON CONFLICT (project_id, field, kind, hash) DO UPDATE SET tasks = s.tasks + excluded.tasks, answers = s.answers + excluded.answers,
               several = s.several + excluded.several, agreement = s.agreement + excluded.agreement, half = s.half + excluded.half,
               most = s.most + excluded.most, unanimous = s.unanimous + excluded.unanimous, value = coalesce(s.value, excluded.value)
    )
    SELECT count(*) INTO n FROM gone;
    PERFORM raise_floor(n);
    RETURN n;
END $$;

-- Lets readers start later: with the first transaction that has unfolded rows, but not after the oldest running one,
-- which may still append some. Call under lock_stats(), and only if it pays off, because raising the mark leaves a dead
-- row.
CREATE FUNCTION raise_floor(p_folded bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE stat_floor f SET xact = n.xact
      FROM (SELECT least(pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
                         (SELECT min(d.xact) FROM stat_delta d WHERE d.xact >= (SELECT unfolded_from()))) AS xact) n
     WHERE n.xact < f.xact OR n.xact > f.xact + CASE WHEN p_folded < 1000 THEN 100 ELSE 0 END;
END $$;

-- Removes days that have left the two weeks, at most p_most rows, and returns how many there were.
CREATE FUNCTION expire_days(p_now timestamptz, p_maximum int DEFAULT 5000) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    PERFORM lock_stats();
    WITH gone AS MATERIALIZED (
        DELETE FROM volunteer_day WHERE ctid = ANY (ARRAY(SELECT ctid FROM volunteer_day WHERE day < first_day(p_now) ORDER BY day LIMIT p_maximum)) RETURNING *
    ), per_person AS MATERIALIZED (
        SELECT project_id, actor, sum(runs) AS runs FROM gone GROUP BY 1, 2
    ), volunteers AS (
        UPDATE volunteer v SET recent = v.recent - d.runs FROM per_person d WHERE v.project_id = d.project_id AND v.actor = d.actor
        RETURNING v.project_id, v.actor, v.recent, d.runs
    ), people AS (
        SELECT project_id, sum(((recent > 0)::int - (recent + runs > 0)::int) * (actor NOT LIKE 'u:%')::int) AS anonymous,
               sum(((recent > 0)::int - (recent + runs > 0)::int) * (actor LIKE 'u:%')::int) AS authenticated FROM volunteers GROUP BY 1
    ), projects AS (
        UPDATE project_stat s SET recent_anonymous = s.recent_anonymous + p.anonymous, recent_authenticated = s.recent_authenticated + p.authenticated
          FROM people p WHERE p.project_id = s.project_id
    )
    SELECT count(*) INTO n FROM gone;
    RETURN n;
END $$;

-- Figures of projects ----------------------------------------------------------------------------------------------------

-- Exact counters, one row per project. Costs the unfolded rows of each requested project. What everybody is told: public_figures.
CREATE VIEW project_figures AS
SELECT p.project_id,
       coalesce(s.tasks, 0) + u.tasks AS n_tasks,
       coalesce(s.wanted, 0) + u.wanted AS n_wanted,
       coalesce(s.counted, 0) + u.counted AS n_counted,
       coalesce(s.completed, 0) + u.completed AS n_completed_tasks,
       coalesce(s.results, 0) + u.results AS n_results,
       coalesce(s.seconds, 0) + u.seconds AS seconds,
       coalesce(s.runs_anonymous, 0) + u.runs_anonymous AS runs_anonymous,
       coalesce(s.runs_authenticated, 0) + u.runs_authenticated AS runs_authenticated,
       coalesce(s.people_anonymous, 0) + n.people_anonymous AS people_anonymous,
       coalesce(s.people_authenticated, 0) + n.people_authenticated AS people_authenticated,
       p.n_gold
  FROM project_ledger p
  LEFT JOIN project_stat s USING (project_id)

 CROSS JOIN LATERAL (
    SELECT coalesce(sum(tasks), 0) AS tasks, coalesce(sum(wanted), 0)::bigint AS wanted, coalesce(sum(counted), 0) AS counted,
           coalesce(sum(completed), 0) AS completed, coalesce(sum(results), 0) AS results, coalesce(sum(seconds), 0) AS seconds,
           coalesce(sum(runs) FILTER (WHERE actor NOT LIKE 'u:%'), 0) AS runs_anonymous, coalesce(sum(runs) FILTER (WHERE actor LIKE 'u:%'), 0) AS runs_authenticated
      FROM stat_delta WHERE project_id = p.project_id AND (project_id, xact) >= (p.project_id, (SELECT unfolded_from()))) u
 CROSS JOIN LATERAL (
    SELECT coalesce(sum(more) FILTER (WHERE actor NOT LIKE 'u:%'), 0) AS people_anonymous, coalesce(sum(more) FILTER (WHERE actor LIKE 'u:%'), 0) AS people_authenticated
      FROM (SELECT d.actor, (d.runs + coalesce(v.runs, 0) > 0)::int - (coalesce(v.runs, 0) > 0)::int AS more
              FROM (SELECT actor, sum(runs) AS runs FROM stat_delta
                     WHERE project_id = p.project_id AND (project_id, xact) >= (p.project_id, (SELECT unfolded_from())) AND actor <> '' GROUP BY 1) d
              LEFT JOIN volunteer v ON v.project_id = p.project_id AND v.actor = d.actor) m) n;

-- How many tasks a project has, even while thousands of answers are not folded: rows about tasks name no volunteer.
-- In FROM, PostgreSQL puts the text of such a function in its place; a call of tasks_of begins a statement of its own each time.
CREATE FUNCTION tasks_in(p_project bigint) RETURNS TABLE (tasks bigint) STABLE LANGUAGE sql AS $$
SELECT coalesce((SELECT s.tasks FROM project_stat s WHERE s.project_id = p_project), 0)
     + coalesce((SELECT sum(d.tasks) FROM stat_delta d WHERE d.project_id = p_project AND (d.project_id, d.xact) >= (p_project, (SELECT unfolded_from())) AND d.actor = ''), 0)::bigint $$;

CREATE FUNCTION tasks_of(p_project bigint) RETURNS bigint STABLE LANGUAGE sql AS $$ SELECT tasks FROM tasks_in(p_project) $$;

-- When the last existing answer was stored. Ordered by the whole key: ordered by id alone, the planner may read the
-- answers of all projects backwards.
CREATE FUNCTION last_activity(p_project bigint) RETURNS timestamptz STABLE LANGUAGE sql AS $$
SELECT CASE WHEN project_id = p_project THEN finish_time END
  FROM (SELECT project_id, finish_time FROM task_run WHERE (project_id, id) < (p_project + 1, 0) ORDER BY project_id DESC, id DESC LIMIT 1) r $$;

-- How many answers a volunteer has given in a project.
CREATE FUNCTION runs_in(p_project bigint, p_actor text) RETURNS TABLE (runs bigint) STABLE LANGUAGE sql AS $$
SELECT coalesce((SELECT v.runs FROM volunteer v WHERE v.project_id = p_project AND v.actor = p_actor), 0)
     + coalesce((SELECT sum(d.runs) FROM stat_delta d WHERE d.project_id = p_project AND (d.project_id, d.xact) >= (p_project, (SELECT unfolded_from())) AND d.actor = p_actor), 0)::bigint $$;

CREATE FUNCTION runs_of(p_project bigint, p_actor text) RETURNS bigint STABLE LANGUAGE sql AS $$ SELECT runs FROM runs_in(p_project, p_actor) $$;

-- What happened in each hour of a project since a day. Hours without events are left out.
CREATE FUNCTION hours_of(p_project bigint, p_since date) RETURNS TABLE (
    hour timestamptz, runs_anonymous bigint, runs_authenticated bigint, counted bigint, completed bigint) STABLE LANGUAGE sql AS $$
SELECT hour, sum(runs_anonymous)::bigint, sum(runs_authenticated)::bigint, sum(counted)::bigint, sum(completed)::bigint FROM (
    SELECT hour, runs_anonymous, runs_authenticated, counted, completed FROM project_hour
     WHERE project_id = p_project AND hour >= p_since::timestamp AT TIME ZONE 'UTC' UNION ALL
    SELECT hour, CASE WHEN actor LIKE 'u:%' THEN 0 ELSE runs END, CASE WHEN actor LIKE 'u:%' THEN runs ELSE 0 END, counted, completed FROM stat_delta
     WHERE project_id = p_project AND (project_id, xact) >= (p_project, (SELECT unfolded_from())) AND hour >= p_since::timestamp AT TIME ZONE 'UTC') h GROUP BY 1 $$;

-- What readers add to the folded rows of volunteers: per actor, for answers of all time or of the last two weeks.
CREATE FUNCTION unfolded_runs(p_project bigint, p_recent boolean, p_now timestamptz) RETURNS TABLE (actor text, runs bigint) STABLE LANGUAGE sql AS $$
SELECT actor, sum(runs)::bigint FROM (
    SELECT actor, runs FROM stat_delta
     WHERE project_id = p_project AND (project_id, xact) >= (p_project, (SELECT unfolded_from())) AND actor <> '' AND (NOT p_recent OR hour >= first_day(p_now)::timestamp AT TIME ZONE 'UTC') UNION ALL
    SELECT actor, -runs FROM volunteer_day WHERE p_recent AND project_id = p_project AND day < first_day(p_now)) d GROUP BY 1 $$;

-- How many people answered in a project in the last two weeks, and how often.
CREATE FUNCTION recent_people(p_project bigint, p_now timestamptz, OUT people_anonymous bigint, OUT people_authenticated bigint) STABLE LANGUAGE sql AS $$
SELECT coalesce(max(s.recent_anonymous), 0) + coalesce(sum(more) FILTER (WHERE actor NOT LIKE 'u:%'), 0),
       coalesce(max(s.recent_authenticated), 0) + coalesce(sum(more) FILTER (WHERE actor LIKE 'u:%'), 0)
  FROM (VALUES (p_project)) p(project_id) LEFT JOIN project_stat s USING (project_id)
  LEFT JOIN (SELECT d.actor, (d.runs + coalesce(v.recent, 0) > 0)::int - (coalesce(v.recent, 0) > 0)::int AS more
               FROM unfolded_runs(p_project, true, p_now) d LEFT JOIN volunteer v ON v.project_id = p_project AND v.actor = d.actor) m ON true $$;

-- The volunteers with the most answers in a project, with or without an account, of all time or of the last two weeks.
-- Reads as many folded rows as requested, and one more for each volunteer with unfolded rows. Blocked people, and
-- those who wish to be on no leaderboard, are skipped.
CREATE FUNCTION top_volunteers(p_project bigint, p_known boolean, p_recent boolean, p_maximum int, p_now timestamptz)
RETURNS TABLE (actor text, runs bigint) STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    WITH d AS MATERIALIZED (
        SELECT u.actor, u.runs + CASE WHEN p_recent THEN coalesce(v.recent, 0) ELSE coalesce(v.runs, 0) END AS runs
          FROM unfolded_runs(p_project, p_recent, p_now) u LEFT JOIN volunteer v ON v.project_id = p_project AND v.actor = u.actor
         WHERE u.actor LIKE 'u:%' = p_known
    ), n AS (SELECT p_maximum + count(*) AS maximum FROM d),
    folded AS (
        (SELECT v.actor, v.runs FROM volunteer v WHERE v.project_id = p_project AND v.actor LIKE 'u:%' = p_known AND v.runs > 0 AND NOT p_recent
            AND (NOT p_known OR EXISTS (SELECT FROM account a WHERE a.id = substr(v.actor, 3)::bigint AND NOT a."restrict" AND NOT a.off_boards))
          ORDER BY v.runs DESC, v.actor LIMIT (SELECT maximum FROM n)) UNION ALL
        (SELECT v.actor, v.recent FROM volunteer v WHERE v.project_id = p_project AND v.actor LIKE 'u:%' = p_known AND v.recent > 0 AND p_recent
            AND (NOT p_known OR EXISTS (SELECT FROM account a WHERE a.id = substr(v.actor, 3)::bigint AND NOT a."restrict" AND NOT a.off_boards))
          ORDER BY v.recent DESC, v.actor LIMIT (SELECT maximum FROM n)))
    SELECT t.actor, t.runs::bigint FROM (
        SELECT f.actor, f.runs FROM folded f WHERE NOT EXISTS (SELECT FROM d WHERE d.actor = f.actor) UNION ALL
        SELECT d.actor, d.runs FROM d WHERE d.runs > 0
           AND (NOT p_known OR EXISTS (SELECT FROM account a WHERE a.id = substr(d.actor, 3)::bigint AND NOT a."restrict" AND NOT a.off_boards))) t
     ORDER BY 2 DESC, 1 LIMIT p_maximum;
END $$;

-- Sums over all projects, or only those that were published (answers to others are trials), as everybody is told. People without an
-- account are counted once in each project.
CREATE FUNCTION site_figures(p_drafts boolean DEFAULT true, OUT n_tasks bigint, OUT n_wanted bigint, OUT n_counted bigint, OUT n_task_runs bigint, OUT n_results bigint, OUT n_anonymous bigint)
STABLE LANGUAGE sql AS $$
WITH of_site AS (SELECT project_id FROM project_ledger WHERE p_drafts OR NOT trial),
u AS MATERIALIZED (SELECT * FROM stat_delta WHERE project_id <> 0 AND xact >= (SELECT unfolded_from()) AND project_id IN (SELECT project_id FROM of_site)),
newly AS (SELECT sum((d.runs + coalesce(v.runs, 0) > 0)::int - (coalesce(v.runs, 0) > 0)::int) AS people
            FROM (SELECT project_id, actor, sum(runs) AS runs FROM u WHERE actor <> '' AND actor NOT LIKE 'u:%' GROUP BY 1, 2) d
            LEFT JOIN volunteer v USING (project_id, actor)),
s AS (SELECT sum(tasks) AS tasks, sum(wanted) AS wanted, sum(counted) AS counted, sum(runs_anonymous + runs_authenticated) AS runs,
             sum(results) AS results, sum(people_anonymous) AS people FROM project_stat WHERE project_id IN (SELECT project_id FROM of_site)),
d AS (SELECT sum(tasks) AS tasks, sum(wanted) AS wanted, sum(counted) AS counted, sum(runs) AS runs, sum(results) AS results FROM u),
gold AS (SELECT sum(p.n_tasks - f.n_tasks) AS tasks, sum(p.n_wanted - f.n_wanted) AS wanted, sum(p.n_counted - f.n_counted) AS counted
           FROM of_site JOIN project_figures f USING (project_id) JOIN public_figures p USING (project_id) WHERE f.n_gold > 0)
SELECT coalesce(s.tasks, 0) + coalesce(d.tasks, 0) + coalesce(gold.tasks, 0), coalesce(s.wanted, 0) + coalesce(d.wanted, 0) + coalesce(gold.wanted, 0),
       coalesce(s.counted, 0) + coalesce(d.counted, 0) + coalesce(gold.counted, 0),
       coalesce(s.runs, 0) + coalesce(d.runs, 0), coalesce(s.results, 0) + coalesce(d.results, 0), coalesce(s.people, 0) + coalesce(newly.people, 0)
  FROM s, d, newly, gold $$;

-- How many public projects have an unfinished task.
CREATE FUNCTION open_projects() RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT count(*) FROM project p LEFT JOIN project_stat s ON s.project_id = p.id
  LEFT JOIN (SELECT project_id, sum(tasks) AS tasks, sum(completed) AS completed FROM stat_delta
              WHERE project_id <> 0 AND xact >= (SELECT unfolded_from()) GROUP BY 1) d ON d.project_id = p.id
 WHERE p.published AND p.lock_id IS NULL AND coalesce(s.completed, 0) + coalesce(d.completed, 0) < coalesce(s.tasks, 0) + coalesce(d.tasks, 0) $$;

-- Resets the counters of a project that keeps only its tasks, because it was published and its trial answers were
-- deleted. The caller has locked the project's ledger and deleted the answers.
CREATE FUNCTION forget_answers(p_project bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE f project_figures; held bigint;
BEGIN
    PERFORM lock_stats();
    SELECT * INTO f FROM project_figures WHERE project_id = p_project;
    held := bytes_of(p_project);
    PERFORM drop_stats(p_project);
    INSERT INTO project_stat (project_id, tasks, wanted, completed, bytes)
    VALUES (p_project, f.n_tasks, f.n_wanted, f.n_completed_tasks, held);
    INSERT INTO project_hour (project_id, hour, completed)
    SELECT p_project, date_trunc('hour', at), count(*) FROM retirement WHERE project_id = p_project AND reason <> 'gold' GROUP BY 2;
END $$;

-- Removes every counter of a project. Unfolded rows of scores are kept.
CREATE FUNCTION drop_stats(p_project bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    UPDATE stat_delta SET project_id = 0, actor = '' WHERE project_id = p_project AND user_id IS NOT NULL;
    DELETE FROM stat_delta WHERE project_id = p_project;
    DELETE FROM project_stat WHERE project_id = p_project;
    DELETE FROM project_hour WHERE project_id = p_project;
    DELETE FROM volunteer_day WHERE project_id = p_project;
    DELETE FROM volunteer WHERE project_id = p_project;
    DELETE FROM outcome_count WHERE project_id = p_project;
END $$;

-- Subtracts the answers of a project from the scores of the people who gave them. Call before the answers are deleted.
CREATE FUNCTION take_scores_back(p_project bigint) RETURNS void LANGUAGE sql AS $$
INSERT INTO stat_delta (project_id, hour, user_id, runs)
SELECT 0, 'epoch', user_id, -count(*) FROM task_run WHERE project_id = p_project AND user_id IS NOT NULL AND NOT trial GROUP BY 3 $$;
