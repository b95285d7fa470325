-- Statistics of two weeks, ranks without counting people, and an index of unfolded rows by project.

-- A row with project 0 is about a person only: they signed up, were blocked, or lost the answers of a deleted project.
-- Seconds are numeric, so that sums do not depend on the order.
ALTER TABLE stat_delta ADD results int NOT NULL DEFAULT 0,      -- last results that their owner has filled
    ALTER seconds TYPE numeric,
    ADD xact bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint;
CREATE INDEX stat_delta_project ON stat_delta (project_id, xact, actor);
CREATE INDEX stat_delta_xact ON stat_delta (xact);

-- Every row of an earlier transaction is folded, so readers start here. Folded rows that are still visible to an old
-- snapshot (a dump, a long export) cannot be removed, and without this every reader would read them again.
CREATE TABLE stat_floor (xact bigint NOT NULL, single boolean PRIMARY KEY DEFAULT true CHECK (single));
INSERT INTO stat_floor (xact) VALUES (0);

ALTER TABLE project_stat
    ALTER seconds TYPE numeric,
    ADD results bigint NOT NULL DEFAULT 0,
    ADD recent_anonymous bigint NOT NULL DEFAULT 0,             -- people with answers in volunteer_day
    ADD recent_authenticated bigint NOT NULL DEFAULT 0;

ALTER TABLE project_hour ADD counted bigint NOT NULL DEFAULT 0;
CREATE INDEX project_hour_hour ON project_hour (hour);

-- Answers of the last two weeks. The folding job removes earlier days and subtracts them from volunteer.recent; until
-- then readers leave them out.
CREATE TABLE volunteer_day (
    project_id bigint NOT NULL,
    day date NOT NULL,
    actor text NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (project_id, day, actor)
) WITH (fillfactor = 70);
CREATE INDEX volunteer_day_day ON volunteer_day (day);

ALTER TABLE volunteer
    ALTER seconds TYPE numeric,
    ADD recent bigint NOT NULL DEFAULT 0;                       -- sum of volunteer_day
CREATE INDEX volunteer_top ON volunteer (project_id, (actor LIKE 'u:%'), runs DESC, actor) WHERE runs > 0;
CREATE INDEX volunteer_recent ON volunteer (project_id, (actor LIKE 'u:%'), recent DESC, actor) WHERE recent > 0;

-- Each person has a row after their first folded change. Blocked people are not shown.
ALTER TABLE person_stat ADD shown boolean NOT NULL DEFAULT false;
DROP INDEX person_stat_runs;
CREATE INDEX person_stat_runs ON person_stat (runs DESC, user_id) WHERE shown AND runs > 0;

-- How many people are shown with a score, in levels: a bucket of level n holds 64 ^ n scores. The number of people with
-- a higher score is the sum of at most 63 rows of each level.
CREATE TABLE score_count (
    level int NOT NULL,
    bucket bigint NOT NULL,
    people bigint NOT NULL,
    PRIMARY KEY (level, bucket)
) WITH (fillfactor = 50);

-- Recomputes all counters from the rows.
TRUNCATE stat_delta, project_stat, project_hour, volunteer, person_stat;

INSERT INTO volunteer_day (project_id, day, actor, runs)
SELECT project_id, (finish_time AT TIME ZONE 'UTC')::date, actor, count(*) FROM task_run, clock_shift
 WHERE (finish_time AT TIME ZONE 'UTC')::date > ((now() + ahead) AT TIME ZONE 'UTC')::date - 14 GROUP BY 1, 2, 3;

INSERT INTO volunteer (project_id, actor, runs, seconds, recent)
SELECT r.project_id, r.actor, count(*), sum(extract(epoch FROM finish_time - created)),
       coalesce((SELECT sum(d.runs) FROM volunteer_day d WHERE d.project_id = r.project_id AND d.actor = r.actor), 0)
  FROM task_run r GROUP BY 1, 2;

INSERT INTO project_hour (project_id, hour, runs_anonymous, runs_authenticated, counted, completed)
SELECT project_id, hour, sum(anonymous), sum(authenticated), sum(counted), sum(completed) FROM (
    SELECT project_id, date_trunc('hour', finish_time, 'UTC') AS hour, (actor NOT LIKE 'u:%')::int AS anonymous,
           (actor LIKE 'u:%')::int AS authenticated, counted::int AS counted, 0 AS completed FROM task_run UNION ALL
    SELECT l.project_id, date_trunc('hour', r.created, 'UTC'), 0, 0, 0, 1
      FROM task_ledger l JOIN result r ON r.project_id = l.project_id AND r.task_id = l.task_id AND r.last_version WHERE l.done) h
 GROUP BY 1, 2;

INSERT INTO project_stat (project_id, tasks, wanted, completed, counted, seconds, runs_anonymous, runs_authenticated,
                          people_anonymous, people_authenticated, recent_anonymous, recent_authenticated, results)
SELECT p.project_id, l.tasks, l.wanted, l.completed, r.counted, v.seconds, v.runs_a, v.runs_u, v.people_a, v.people_u, v.recent_a, v.recent_u, x.filled
  FROM project_ledger p,
       LATERAL (SELECT count(*) AS tasks, coalesce(sum(n_answers), 0) AS wanted, count(*) FILTER (WHERE done) AS completed
                  FROM task_ledger WHERE project_id = p.project_id) l,
       LATERAL (SELECT count(*) FILTER (WHERE counted) AS counted FROM task_run WHERE project_id = p.project_id) r,
       LATERAL (SELECT count(*) AS filled FROM result WHERE project_id = p.project_id AND last_version AND info <> 'null') x,
       LATERAL (SELECT coalesce(sum(seconds), 0) AS seconds,
                       coalesce(sum(runs) FILTER (WHERE actor NOT LIKE 'u:%'), 0) AS runs_a, coalesce(sum(runs) FILTER (WHERE actor LIKE 'u:%'), 0) AS runs_u,
                       count(*) FILTER (WHERE actor NOT LIKE 'u:%') AS people_a, count(*) FILTER (WHERE actor LIKE 'u:%') AS people_u,
                       count(*) FILTER (WHERE actor NOT LIKE 'u:%' AND recent > 0) AS recent_a, count(*) FILTER (WHERE actor LIKE 'u:%' AND recent > 0) AS recent_u
                  FROM volunteer WHERE project_id = p.project_id) v;

INSERT INTO person_stat (user_id, runs, shown)
SELECT a.id, count(r.id), NOT a."restrict" FROM account a LEFT JOIN task_run r ON r.user_id = a.id AND NOT r.trial GROUP BY a.id;

INSERT INTO score_count (level, bucket, people)
SELECT level, runs >> (6 * level), count(*) FROM person_stat, generate_series(0, 3) level WHERE shown GROUP BY 1, 2;

-- What changes by many hands is noted by the tables themselves. Unlike other functions these do not live among the
-- definitions: laying a trigger anew would lock its table.

-- Results that their owner has filled: the last ones with an info.
CREATE FUNCTION count_result() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO stat_delta (project_id, hour, results) VALUES (OLD.project_id, date_trunc('hour', OLD.created), -1);
    ELSE
        INSERT INTO stat_delta (project_id, hour, results)
        VALUES (NEW.project_id, date_trunc('hour', NEW.created), CASE WHEN NEW.last_version AND NEW.info <> 'null' THEN 1 ELSE -1 END);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER result_is_filled AFTER INSERT ON result FOR EACH ROW
  WHEN (NEW.last_version AND NEW.info <> 'null') EXECUTE FUNCTION count_result();
CREATE TRIGGER result_changes AFTER UPDATE ON result FOR EACH ROW
  WHEN ((coalesce(OLD.info <> 'null', false) AND OLD.last_version) <> (coalesce(NEW.info <> 'null', false) AND NEW.last_version)) EXECUTE FUNCTION count_result();
CREATE TRIGGER result_goes AFTER DELETE ON result FOR EACH ROW
  WHEN (OLD.last_version AND OLD.info <> 'null') EXECUTE FUNCTION count_result();

-- Somebody comes, is blocked, is let in again or goes: his row is looked at by readers and by the next fold.
CREATE FUNCTION note_people() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, user_id) SELECT 0, 'epoch', id FROM newcomer;
    RETURN NULL;
END $$;
CREATE FUNCTION note_person() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, user_id) VALUES (0, 'epoch', OLD.id);
    RETURN NULL;
END $$;
CREATE TRIGGER account_comes AFTER INSERT ON account REFERENCING NEW TABLE AS newcomer FOR EACH STATEMENT EXECUTE FUNCTION note_people();
CREATE TRIGGER account_is_blocked AFTER UPDATE OF "restrict" ON account FOR EACH ROW
  WHEN (OLD."restrict" <> NEW."restrict") EXECUTE FUNCTION note_person();
CREATE TRIGGER account_goes AFTER DELETE ON account FOR EACH ROW EXECUTE FUNCTION note_person();
