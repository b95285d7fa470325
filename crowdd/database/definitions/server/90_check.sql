-- Recounts counters from the rows, in a running system (crowdd/sched/statistics.py lists the checks).
--
-- There are no false alarms while answers come in: a transaction that changes rows also changes their counters, so
-- every snapshot contains both or neither. A check is one statement, and therefore one snapshot, without a lock. A
-- difference that it finds persists with the same amount. A repair takes lock_stats(), so that nothing is folded
-- meanwhile, computes the amount again in a single statement, and adds it to the folded counter. Answers are not
-- blocked.
--
-- A check and its repair are functions of (project, moment). Those about people ignore the project.

CREATE TYPE difference AS (project_id bigint, what text, key text, stored numeric, counted numeric);

-- Answers and seconds of each volunteer.
CREATE FUNCTION check_volunteers(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH stored AS (
    SELECT actor, sum(runs) AS runs, sum(seconds) AS seconds FROM (
        SELECT actor, runs, seconds FROM volunteer WHERE project_id = p_project UNION ALL
        SELECT actor, runs, seconds FROM stat_delta WHERE project_id = p_project AND actor <> '') s GROUP BY 1
), counted AS (
    SELECT actor, count(*) AS runs, sum(time_spent(created, finish_time, timeout)) AS seconds FROM task_run WHERE project_id = p_project GROUP BY 1
)
SELECT p_project, v.what, actor, v.stored, v.counted
  FROM stored s FULL JOIN counted c USING (actor),
       LATERAL (VALUES ('volunteer.runs', coalesce(s.runs, 0), coalesce(c.runs, 0)::numeric),
                       ('volunteer.seconds', coalesce(s.seconds, 0), coalesce(c.seconds, 0))) v(what, stored, counted)
 WHERE v.stored <> v.counted ORDER BY 3, 2 $$;

CREATE FUNCTION repair_volunteers(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    INSERT INTO volunteer AS v (project_id, actor, runs, seconds)
    SELECT p_project, key, coalesce(sum(counted - stored) FILTER (WHERE what = 'volunteer.runs'), 0),
           coalesce(sum(counted - stored) FILTER (WHERE what = 'volunteer.seconds'), 0) FROM check_volunteers(p_project, p_now) GROUP BY key
        ON CONFLICT (project_id, actor) DO UPDATE SET runs = v.runs + excluded.runs, seconds = v.seconds + excluded.seconds;
END $$;

-- Answers of each volunteer on each day of the last two weeks, and their sums.
CREATE FUNCTION check_recent(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH stored AS (
    SELECT day, actor, sum(runs) AS runs FROM (
        SELECT day, actor, runs FROM volunteer_day WHERE project_id = p_project AND day >= first_day(p_now) UNION ALL
        SELECT day_of(hour), actor, runs FROM stat_delta WHERE project_id = p_project AND actor <> '' AND day_of(hour) >= first_day(p_now)) s GROUP BY 1, 2
), counted AS (
    SELECT day_of(finish_time) AS day, actor, count(*) AS runs FROM task_run WHERE project_id = p_project AND day_of(finish_time) >= first_day(p_now) GROUP BY 1, 2
), days AS (
    SELECT 'volunteer_day.runs' AS what, day || ' ' || actor AS key, coalesce(s.runs, 0) AS stored, coalesce(c.runs, 0) AS counted
      FROM stored s FULL JOIN counted c USING (day, actor)
), sums AS (
    SELECT 'volunteer.recent', actor, coalesce(v.recent, 0), coalesce(d.runs, 0)
      FROM (SELECT actor, recent FROM volunteer WHERE project_id = p_project AND recent <> 0) v
      FULL JOIN (SELECT actor, sum(runs) AS runs FROM volunteer_day WHERE project_id = p_project GROUP BY 1) d USING (actor)
), people AS (
    SELECT v.* FROM (SELECT count(*) FILTER (WHERE actor NOT LIKE 'u:%') AS anonymous, count(*) FILTER (WHERE actor LIKE 'u:%') AS authenticated
                       FROM volunteer WHERE project_id = p_project AND recent > 0) n
      LEFT JOIN project_stat s ON s.project_id = p_project,
           LATERAL (VALUES ('project_stat.recent_anonymous', '', coalesce(s.recent_anonymous, 0), n.anonymous),
                           ('project_stat.recent_authenticated', '', coalesce(s.recent_authenticated, 0), n.authenticated)) v
)
SELECT p_project, what, key, stored, counted FROM (SELECT * FROM days UNION ALL SELECT * FROM sums UNION ALL SELECT * FROM people) d
 WHERE stored <> counted ORDER BY 2, 3 $$;

CREATE FUNCTION repair_recent(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    INSERT INTO volunteer_day AS v (project_id, day, actor, runs)
    SELECT p_project, left(key, 10)::date, substr(key, 12), counted - stored FROM check_recent(p_project, p_now) WHERE what = 'volunteer_day.runs'
        ON CONFLICT (project_id, day, actor) DO UPDATE SET runs = v.runs + excluded.runs;
    INSERT INTO volunteer AS v (project_id, actor, recent)
    SELECT p_project, key, counted - stored FROM check_recent(p_project, p_now) WHERE what = 'volunteer.recent'
        ON CONFLICT (project_id, actor) DO UPDATE SET recent = v.recent + excluded.recent;
    INSERT INTO project_stat AS s (project_id, recent_anonymous, recent_authenticated)
    SELECT p_project, count(*) FILTER (WHERE actor NOT LIKE 'u:%'), count(*) FILTER (WHERE actor LIKE 'u:%') FROM volunteer WHERE project_id = p_project AND recent > 0
        ON CONFLICT (project_id) DO UPDATE SET recent_anonymous = excluded.recent_anonymous, recent_authenticated = excluded.recent_authenticated;
END $$;

-- Answers of each hour. For a reopened task the rows do not show when it was completed, so only the sum is checked.
CREATE FUNCTION check_hours(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH stored AS (SELECT * FROM hours_of(p_project, '-infinity')),
counted AS (
    SELECT date_trunc('hour', finish_time) AS hour, count(*) FILTER (WHERE actor NOT LIKE 'u:%') AS anonymous,
           count(*) FILTER (WHERE actor LIKE 'u:%') AS authenticated FROM task_run WHERE project_id = p_project GROUP BY 1
), sums AS (
    SELECT v.* FROM (SELECT coalesce(sum(completed), 0) AS completed, coalesce(sum(counted), 0) AS counted FROM stored) s,
           LATERAL (VALUES ('project_hour.completed', '', s.completed, (SELECT count(*) FROM task_ledger WHERE project_id = p_project AND (done OR retired) AND mode::text <> 'gold')),
                           ('project_hour.counted', '', s.counted, (SELECT count(*) FROM task_run WHERE project_id = p_project AND counted))) v
), hours AS (
    SELECT v.what, to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:00') AS key, v.stored, v.counted FROM stored s FULL JOIN counted c USING (hour),
           LATERAL (VALUES ('project_hour.runs_anonymous', coalesce(s.runs_anonymous, 0), coalesce(c.anonymous, 0)),
                           ('project_hour.runs_authenticated', coalesce(s.runs_authenticated, 0), coalesce(c.authenticated, 0))) v(what, stored, counted)
)
SELECT p_project, * FROM (SELECT * FROM sums UNION ALL SELECT * FROM hours) d(what, key, stored, counted) WHERE stored <> counted ORDER BY 2, 3 $$;

CREATE FUNCTION repair_hours(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    INSERT INTO project_hour AS h (project_id, hour, runs_anonymous, runs_authenticated, counted, completed)
    SELECT p_project, CASE key WHEN '' THEN date_trunc('hour', p_now) ELSE key::timestamp AT TIME ZONE 'UTC' END,
           coalesce(sum(counted - stored) FILTER (WHERE what = 'project_hour.runs_anonymous'), 0),
           coalesce(sum(counted - stored) FILTER (WHERE what = 'project_hour.runs_authenticated'), 0),
           coalesce(sum(counted - stored) FILTER (WHERE what = 'project_hour.counted'), 0),
           coalesce(sum(counted - stored) FILTER (WHERE what = 'project_hour.completed'), 0) FROM check_hours(p_project, p_now) GROUP BY 2
        ON CONFLICT (project_id, hour) DO UPDATE SET runs_anonymous = h.runs_anonymous + excluded.runs_anonymous,
           runs_authenticated = h.runs_authenticated + excluded.runs_authenticated, counted = h.counted + excluded.counted,
           completed = h.completed + excluded.completed;
END $$;

-- Counters of whole projects; people after check_volunteers.
CREATE FUNCTION check_figures(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
SELECT p_project, v.what, '', v.stored, v.counted
  FROM project_figures f,
       LATERAL (SELECT count(*) FILTER (WHERE mode::text <> 'gold') AS tasks, coalesce(sum(wanted(t)), 0) AS wanted, count(*) FILTER (WHERE (done OR retired) AND mode::text <> 'gold') AS done
                  FROM task_ledger t WHERE project_id = p_project) l,
       LATERAL (SELECT coalesce(sum(n), 0) AS n, coalesce(sum(counted), 0) AS counted, coalesce(sum(seconds), 0) AS seconds,
                       coalesce(sum(n) FILTER (WHERE actor NOT LIKE 'u:%'), 0) AS anonymous, coalesce(sum(n) FILTER (WHERE actor LIKE 'u:%'), 0) AS authenticated,
                       count(*) FILTER (WHERE actor NOT LIKE 'u:%') AS strangers, count(*) FILTER (WHERE actor LIKE 'u:%') AS people
                  FROM (SELECT actor, count(*) AS n, count(*) FILTER (WHERE counted) AS counted, sum(time_spent(created, finish_time, timeout)) AS seconds
                          FROM task_run WHERE project_id = p_project GROUP BY 1) a) r,
       LATERAL (SELECT count(*) AS filled FROM result WHERE project_id = p_project AND last_version AND info <> 'null') x,
       LATERAL (VALUES ('project_stat.tasks', f.n_tasks::numeric, l.tasks::numeric), ('project_stat.wanted', f.n_wanted, l.wanted),
                       ('project_stat.completed', f.n_completed_tasks, l.done), ('project_stat.counted', f.n_counted, r.counted),
                       ('project_stat.seconds', f.seconds, r.seconds), ('project_stat.results', f.n_results, x.filled),
                       ('project_stat.runs_anonymous', f.runs_anonymous, r.anonymous), ('project_stat.runs_authenticated', f.runs_authenticated, r.authenticated),
                       ('project_stat.people_anonymous', f.people_anonymous, r.strangers), ('project_stat.people_authenticated', f.people_authenticated, r.people)
       ) v(what, stored, counted)
 WHERE f.project_id = p_project AND v.stored <> v.counted $$;

CREATE FUNCTION repair_figures(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    INSERT INTO project_stat (project_id) VALUES (p_project) ON CONFLICT DO NOTHING;
    UPDATE project_stat s
       SET tasks = tasks + coalesce(d.more->>'tasks', '0')::bigint, wanted = wanted + coalesce(d.more->>'wanted', '0')::bigint,
           completed = completed + coalesce(d.more->>'completed', '0')::bigint, counted = counted + coalesce(d.more->>'counted', '0')::bigint,
           seconds = seconds + coalesce(d.more->>'seconds', '0')::numeric, results = results + coalesce(d.more->>'results', '0')::bigint,
           runs_anonymous = runs_anonymous + coalesce(d.more->>'runs_anonymous', '0')::bigint,
           runs_authenticated = runs_authenticated + coalesce(d.more->>'runs_authenticated', '0')::bigint,
           people_anonymous = people_anonymous + coalesce(d.more->>'people_anonymous', '0')::bigint,
           people_authenticated = people_authenticated + coalesce(d.more->>'people_authenticated', '0')::bigint
      FROM (SELECT jsonb_object_agg(substr(what, 14), counted - stored) AS more FROM check_figures(p_project, p_now)) d
     WHERE s.project_id = p_project AND d.more IS NOT NULL;
END $$;

-- Scores, visibility, and how many visible people have each score.
CREATE FUNCTION check_people(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
WITH scores AS (
    SELECT 'person_stat.runs' AS what, user_id::text AS key, coalesce(s.runs, 0) AS stored, coalesce(c.runs, 0) AS counted
      FROM score s FULL JOIN (SELECT user_id, count(*) AS runs FROM task_run r WHERE NOT trial AND user_id IS NOT NULL
               AND NOT EXISTS (SELECT FROM project p WHERE p.id = r.project_id AND p.owners_ids @> ARRAY[r.user_id]) GROUP BY 1) c USING (user_id)
), shown AS (
    SELECT 'person_stat.shown', a.id::text, coalesce(s.shown, false)::int, (NOT a."restrict")::int FROM account a LEFT JOIN person_stat s ON s.user_id = a.id
     WHERE NOT EXISTS (SELECT FROM unfolded_person u WHERE u.user_id = a.id)
), levels AS (
    SELECT 'score_count.people', 'level ' || level || ', bucket ' || bucket, coalesce(s.people, 0), coalesce(c.people, 0)
      FROM score_count s FULL JOIN (SELECT level, runs >> (6 * level) AS bucket, count(*) AS people
                                      FROM person_stat, generate_series(0, 3) level WHERE shown GROUP BY 1, 2) c USING (level, bucket)
)
SELECT NULL::bigint, what, key, stored, counted FROM (SELECT * FROM scores UNION ALL SELECT * FROM shown UNION ALL SELECT * FROM levels) d
 WHERE stored <> counted ORDER BY 2, 3 $$;

CREATE FUNCTION repair_people(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    INSERT INTO person_stat AS s (user_id, runs) SELECT key::bigint, counted - stored FROM check_people(NULL, p_now) WHERE what = 'person_stat.runs'
        ON CONFLICT (user_id) DO UPDATE SET runs = s.runs + excluded.runs;
    INSERT INTO person_stat AS s (user_id, shown) SELECT key::bigint, counted = 1 FROM check_people(NULL, p_now) WHERE what = 'person_stat.shown'
        ON CONFLICT (user_id) DO UPDATE SET shown = excluded.shown;
    DELETE FROM score_count;
    INSERT INTO score_count (level, bucket, people)
    SELECT level, runs >> (6 * level), count(*) FROM person_stat, generate_series(0, 3) level WHERE shown GROUP BY 1, 2;
END $$;

-- Bytes of a project.
CREATE FUNCTION check_bytes(p_project bigint, p_now timestamptz) RETURNS SETOF difference STABLE LANGUAGE sql AS $$
SELECT p_project, v.what, '', v.stored, v.counted
  FROM (SELECT coalesce(sum(bytes), 0) AS bytes FROM (
            SELECT octet_length(info::text) + octet_length(long_description) AS bytes FROM project WHERE id = p_project
            UNION ALL SELECT octet_length(info::text) FROM task WHERE project_id = p_project
            UNION ALL SELECT octet_length(info::text) FROM task_run WHERE project_id = p_project
            UNION ALL SELECT octet_length(info::text) FROM result WHERE project_id = p_project
            UNION ALL SELECT octet_length(info::text) + octet_length(body) FROM blogpost WHERE project_id = p_project
            UNION ALL SELECT octet_length(info::text) FROM helpingmaterial WHERE project_id = p_project
            UNION ALL SELECT octet_length(value::text) FROM prediction WHERE project_id = p_project
            UNION ALL SELECT octet_length(strings::text) FROM project_translation WHERE project_id = p_project
            UNION ALL SELECT bytes FROM upload_file WHERE project_id = p_project) b) c,
       (SELECT coalesce(sum(bytes), 0) AS bytes FROM answer_file WHERE project_id = p_project) f,
       LATERAL (VALUES ('project_stat.bytes', bytes_of(p_project)::numeric, c.bytes::numeric),
                       ('answer_file_sum.bytes', coalesce((SELECT bytes FROM answer_file_sum WHERE project_id = p_project), 0), f.bytes)
       ) v(what, stored, counted)
 WHERE v.stored <> v.counted $$;

CREATE FUNCTION repair_bytes(p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_stats();
    INSERT INTO answer_file_sum AS s (project_id, bytes) SELECT p_project, counted - stored FROM check_bytes(p_project, p_now) WHERE what = 'answer_file_sum.bytes'
        ON CONFLICT (project_id) DO UPDATE SET bytes = s.bytes + excluded.bytes;
    INSERT INTO project_stat AS s (project_id, bytes) SELECT p_project, counted - stored FROM check_bytes(p_project, p_now) WHERE what = 'project_stat.bytes'
        ON CONFLICT (project_id) DO UPDATE SET bytes = s.bytes + excluded.bytes;
END $$;
