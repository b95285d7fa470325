-- Counters: appended by the transaction that changes something, folded here, and read as the sum of both.

-- Moves the appended counters into the folded ones; one fold at a time. Returns how many rows were folded.
CREATE FUNCTION fold_stats() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('fold_stats', 0));
    WITH gone AS (
        DELETE FROM stat_delta RETURNING *
    ), person AS (
        INSERT INTO person_stat AS s (user_id, runs)
        SELECT user_id, sum(runs) FROM gone WHERE user_id IS NOT NULL GROUP BY 1 ORDER BY 1
            ON CONFLICT (user_id) DO UPDATE SET runs = s.runs + excluded.runs
    ), hours AS (
        INSERT INTO project_hour AS s (project_id, hour, runs_anonymous, runs_authenticated, completed)
        SELECT project_id, hour, coalesce(sum(runs) FILTER (WHERE actor NOT LIKE 'u:%'), 0), coalesce(sum(runs) FILTER (WHERE actor LIKE 'u:%'), 0), sum(completed)
          FROM gone GROUP BY 1, 2 HAVING bool_or(runs <> 0 OR completed <> 0) ORDER BY 1, 2
            ON CONFLICT (project_id, hour) DO UPDATE SET runs_anonymous = s.runs_anonymous + excluded.runs_anonymous,
               runs_authenticated = s.runs_authenticated + excluded.runs_authenticated, completed = s.completed + excluded.completed
    ), per_person AS (
        SELECT project_id, actor, sum(runs) AS runs, sum(seconds) AS seconds FROM gone WHERE actor <> '' GROUP BY 1, 2
    ), volunteers AS (
        INSERT INTO volunteer AS s (project_id, actor, runs, seconds)
        SELECT project_id, actor, runs, seconds FROM per_person ORDER BY 1, 2
            ON CONFLICT (project_id, actor) DO UPDATE SET runs = s.runs + excluded.runs, seconds = s.seconds + excluded.seconds
        RETURNING project_id, actor, runs
    ), people AS (
        SELECT v.project_id, v.actor LIKE 'u:%' AS known, sum((v.runs > 0)::int - (v.runs - d.runs > 0)::int) AS more
          FROM volunteers v JOIN per_person d USING (project_id, actor) GROUP BY 1, 2
    ), totals AS (
        SELECT project_id, sum(tasks) AS tasks, sum(wanted) AS wanted, sum(counted) AS counted, sum(completed) AS completed, sum(seconds) AS seconds,
               coalesce(sum(runs) FILTER (WHERE actor NOT LIKE 'u:%'), 0) AS runs_anonymous, coalesce(sum(runs) FILTER (WHERE actor LIKE 'u:%'), 0) AS runs_authenticated
          FROM gone GROUP BY 1
    ), projects AS (
        INSERT INTO project_stat AS s (project_id, tasks, wanted, counted, completed, seconds, runs_anonymous, runs_authenticated, people_anonymous, people_authenticated)
        SELECT t.project_id, t.tasks, t.wanted, t.counted, t.completed, t.seconds, t.runs_anonymous, t.runs_authenticated,
               coalesce((SELECT more FROM people p WHERE p.project_id = t.project_id AND NOT known), 0),
               coalesce((SELECT more FROM people p WHERE p.project_id = t.project_id AND known), 0)
          FROM totals t ORDER BY 1
            ON CONFLICT (project_id) DO UPDATE SET tasks = s.tasks + excluded.tasks, wanted = s.wanted + excluded.wanted,
               counted = s.counted + excluded.counted, completed = s.completed + excluded.completed, seconds = s.seconds + excluded.seconds,
               runs_anonymous = s.runs_anonymous + excluded.runs_anonymous, runs_authenticated = s.runs_authenticated + excluded.runs_authenticated,
               people_anonymous = s.people_anonymous + excluded.people_anonymous, people_authenticated = s.people_authenticated + excluded.people_authenticated
    )
    SELECT count(*) INTO n FROM gone;
    RETURN n;
END $$;

-- Figures of a project, true at this moment: one row for each project that ever had a task.
CREATE VIEW project_figures AS
WITH unfolded AS (
    SELECT project_id, sum(tasks) AS tasks, sum(wanted) AS wanted, sum(counted) AS counted, sum(completed) AS completed, sum(seconds) AS seconds,
           coalesce(sum(runs) FILTER (WHERE actor NOT LIKE 'u:%'), 0) AS runs_anonymous, coalesce(sum(runs) FILTER (WHERE actor LIKE 'u:%'), 0) AS runs_authenticated
      FROM stat_delta GROUP BY 1
), newly AS (
    SELECT d.project_id,
           coalesce(sum((d.runs + coalesce(v.runs, 0) > 0)::int - (coalesce(v.runs, 0) > 0)::int) FILTER (WHERE d.actor NOT LIKE 'u:%'), 0) AS people_anonymous,
           coalesce(sum((d.runs + coalesce(v.runs, 0) > 0)::int - (coalesce(v.runs, 0) > 0)::int) FILTER (WHERE d.actor LIKE 'u:%'), 0) AS people_authenticated
      FROM (SELECT project_id, actor, sum(runs) AS runs FROM stat_delta WHERE actor <> '' GROUP BY 1, 2) d
      LEFT JOIN volunteer v USING (project_id, actor) GROUP BY 1
)
SELECT p.project_id,
       coalesce(s.tasks, 0) + coalesce(u.tasks, 0) AS n_tasks,
       coalesce(s.wanted, 0) + coalesce(u.wanted, 0) AS n_wanted,
       coalesce(s.counted, 0) + coalesce(u.counted, 0) AS n_counted,
       coalesce(s.completed, 0) + coalesce(u.completed, 0) AS n_completed_tasks,
       coalesce(s.seconds, 0) + coalesce(u.seconds, 0) AS seconds,
       coalesce(s.runs_anonymous, 0) + coalesce(u.runs_anonymous, 0) AS runs_anonymous,
       coalesce(s.runs_authenticated, 0) + coalesce(u.runs_authenticated, 0) AS runs_authenticated,
       coalesce(s.people_anonymous, 0) + coalesce(n.people_anonymous, 0) AS people_anonymous,
       coalesce(s.people_authenticated, 0) + coalesce(n.people_authenticated, 0) AS people_authenticated
  FROM project_ledger p
  LEFT JOIN project_stat s USING (project_id)
  LEFT JOIN unfolded u USING (project_id)
  LEFT JOIN newly n USING (project_id);

-- How many answers a volunteer has given in a project.
CREATE FUNCTION runs_of(p_project bigint, p_actor text) RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT coalesce((SELECT runs FROM volunteer WHERE project_id = p_project AND actor = p_actor), 0)
     + coalesce((SELECT sum(runs) FROM stat_delta WHERE project_id = p_project AND actor = p_actor), 0)::bigint $$;

-- Scores of people: answers in published projects.
CREATE VIEW score AS
SELECT user_id, sum(runs)::bigint AS runs
  FROM (SELECT user_id, runs FROM person_stat UNION ALL SELECT user_id, runs FROM stat_delta WHERE user_id IS NOT NULL) s GROUP BY 1;
