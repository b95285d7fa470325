-- Codes of volunteers in place of addresses, and counters that nobody can inflate.

-- The code that identifies the answers of one volunteer in one project: random, created with the first answer.
CREATE TABLE volunteer_word (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    word text NOT NULL,
    PRIMARY KEY (project_id, actor)
);
INSERT INTO volunteer_word (project_id, actor, word)
SELECT project_id, actor, right(replace(gen_random_uuid()::text, '-', ''), 15)
  FROM (SELECT DISTINCT project_id, actor FROM task_run) r;

-- Who has given a reason for skipping a task, so that nobody is counted twice. The reason itself is not stored here.
CREATE TABLE task_skip_by (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    actor text NOT NULL,
    PRIMARY KEY (project_id, task_id, actor)
);

-- Time counts until a lease ends. Answers that came later counted until they came.
INSERT INTO stat_delta (project_id, hour, actor, seconds)
SELECT project_id, date_trunc('hour', finish_time), actor, -sum(timeout::numeric) FROM task_run WHERE timeout IS NOT NULL GROUP BY 1, 2, 3;

-- Scores no longer count answers in a person's own projects.
INSERT INTO stat_delta (project_id, hour, user_id, runs)
SELECT 0, 'epoch', r.user_id, -count(*) FROM task_run r JOIN project p ON p.id = r.project_id
 WHERE NOT r.trial AND r.user_id = ANY (p.owners_ids) GROUP BY 3;

-- The position of a sweep that goes through a table by id.
CREATE TABLE swept (
    name text PRIMARY KEY,
    upto bigint NOT NULL
);
