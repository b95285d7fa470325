-- The views from which each kind is read: a column for every attribute of its declaration.

-- overall_progress: counted answers as a percentage of those needed. It is 100 exactly if every task is finished: after
-- n_answers was lowered, some tasks have more answers than they need while others have none. With adaptive redundancy it is the share of
-- tasks that are complete, because what is wanted grows as one goes. With gold tasks: shown_figures. n_unfinished is exact, and for
-- conditions only.
CREATE VIEW project_record AS
SELECT p.*, s.n_tasks, s.n_completed_tasks, f.runs_anonymous + f.runs_authenticated AS n_task_runs,
       f.people_anonymous + f.people_authenticated AS n_volunteers, f.n_results,
       (SELECT count(*) FROM blogpost b WHERE b.project_id = p.id) AS n_blogposts, s.overall_progress, f.n_tasks - f.n_completed_tasks AS n_unfinished,
       last_activity(p.id) AS last_activity_raw,
       (SELECT CASE WHEN a.privacy_mode THEN a.name ELSE a.fullname END FROM account a WHERE a.id = p.owner_id) AS owner
  FROM project p JOIN project_figures f ON f.project_id = p.id
 CROSS JOIN LATERAL shown_figures(f.n_tasks, f.n_completed_tasks, f.n_wanted, f.n_counted, f.runs_anonymous + f.runs_authenticated, f.n_gold,
                                  p.trust IS NOT NULL AND p.answer_label IS NOT NULL) s;

CREATE VIEW projectstats_record AS
SELECT p.id, p.id AS project_id, f.n_tasks, f.runs_anonymous + f.runs_authenticated AS n_task_runs, f.n_results,
       f.people_anonymous + f.people_authenticated AS n_volunteers, f.n_completed_tasks, f.overall_progress,
       coalesce(f.seconds / nullif(f.runs_anonymous + f.runs_authenticated, 0), 0)::float8 AS average_time,
       (SELECT count(*) FROM blogpost b WHERE b.project_id = p.id) AS n_blogposts, last_activity(p.id) AS last_activity, '{}'::jsonb AS info
  FROM project p JOIN public_figures f ON f.project_id = p.id;

-- ledger_id is id as the ledger has it, for conditions on ids: with these on one side alone, a join that goes along both tables
-- would begin with the first task of the project.
CREATE VIEW task_record AS
SELECT t.*, coalesce(l.max_answers, l.n_answers) AS n_answers, l.priority_0, l.mode, l.answers,
       CASE WHEN l.retired THEN (SELECT reason FROM retirement x WHERE x.project_id = l.project_id AND x.task_id = l.task_id)
            WHEN l.done THEN 'complete' END AS closed,
       CASE WHEN l.retired THEN (SELECT at FROM retirement x WHERE x.project_id = l.project_id AND x.task_id = l.task_id) END AS retired_at,
       CASE WHEN l.retired THEN (SELECT user_id FROM retirement x WHERE x.project_id = l.project_id AND x.task_id = l.task_id) END AS retired_by,
       CASE WHEN l.retired THEN (SELECT note FROM retirement x WHERE x.project_id = l.project_id AND x.task_id = l.task_id) END AS retired_note,
       CASE WHEN l.done OR l.retired THEN 'completed' ELSE 'ongoing' END AS state, l.answers + l.uncounted AS n_task_runs,
       (SELECT array_agg(user_id ORDER BY created) FROM favourite f WHERE f.project_id = t.project_id AND f.task_id = t.id) AS fav_user_ids, l.changed_xid, l.task_id AS ledger_id
  FROM task t JOIN task_ledger l ON l.project_id = t.project_id AND l.task_id = t.id;

-- An answer with the code of its volunteer.
CREATE VIEW task_run_record AS
SELECT r.*, (SELECT word FROM volunteer_word w WHERE w.project_id = r.project_id AND w.actor = r.actor) AS volunteer FROM task_run r;

-- A result with what its answers say together, by the names of the answer fields.
CREATE VIEW result_record AS
SELECT r.id, r.created, r.project_id, r.task_id, r.task_run_ids, r.last_version,
       consensus_of_result(r.project_id, r.last_version, ROW(r.consensus, r.consensus_hash, r.n_compared, r.agreement, r.confidence)::said, r.further,
                           printed_as_json(r)) AS consensus,
       r.reason, printed_confidence(r) AS confidence, model_value(r) AS model, CASE WHEN r.last_version AND r.posterior IS NOT NULL THEN posterior_by_choice(r.project_id, r.generation, r.posterior) END AS posterior, r.info, r.changed_xid
  FROM result r;

-- A task as others than owners may read it: like task_record, without the hidden columns of info. While the project has gold tasks,
-- which are never complete, every task is open.
CREATE VIEW public_task_record AS
SELECT t.id, t.project_id, t.created, CASE WHEN p.hidden_columns IS NULL THEN t.info ELSE without_keys(t.info, p.hidden_columns) END AS info,
       t.quorum, t.calibration, t.n_answers, t.priority_0, t.mode, t.answers, CASE WHEN NOT p.has_gold THEN t.closed END AS closed,
       t.retired_at, t.retired_by, t.retired_note, CASE WHEN p.has_gold THEN 'ongoing' ELSE t.state END AS state, t.n_task_runs, t.fav_user_ids, t.changed_xid,
       p.suggested_models
  FROM task_record t JOIN project p ON p.id = t.project_id;

-- What models predict for the questions of a task that suggest it (project.suggested_models), by their names; null for nothing.
CREATE FUNCTION predicted(p_project bigint, p_task bigint, p_models jsonb) RETURNS jsonb STABLE LANGUAGE sql AS $$
SELECT jsonb_object_agg(p_models ->> n, x.value)
  FROM generate_series(0, jsonb_array_length(p_models) / 2 - 1) n
 CROSS JOIN LATERAL (SELECT value FROM prediction
                      WHERE project_id = p_project AND task_id = p_task AND question = p_models ->> n
                        AND model = p_models ->> (n + jsonb_array_length(p_models) / 2) ORDER BY id DESC LIMIT 1) x $$;

-- A task as it is handed out; under incremental with the previous answer, if there is one, and with predictions that questions suggest.
CREATE VIEW handed_out AS
SELECT t.*, CASE WHEN t.suggested_models IS NOT NULL AND jsonb_typeof(t.info) = 'object'
                 THEN s.info || coalesce((SELECT jsonb_build_object('predictions', said) FROM predicted(t.project_id, t.id, t.suggested_models) said
                                           WHERE said IS NOT NULL), '{}')
            ELSE s.info END AS shown_info
  FROM public_task_record t CROSS JOIN LATERAL (
       SELECT CASE WHEN t.mode = 'one_at_a_time' AND t.answers > 0 AND jsonb_typeof(t.info) = 'object' THEN t.info || jsonb_build_object('last_answer', (
           SELECT r.info FROM task_run r WHERE r.project_id = t.project_id AND r.task_id = t.id AND r.counted ORDER BY r.id DESC LIMIT 1))
       ELSE t.info END AS info) s;

CREATE VIEW user_record AS
SELECT id, created, name, fullname, email_addr, api_key_encrypted, NULL::text AS passwd_hash, admin, pro, "restrict", privacy_mode, subscribed,
       newsletter_prompted, valid_email, confirmation_email_sent, consent, locale, flags, category, catalog_api,
       google_user_id, github_user_id, orcid_user_id, info
  FROM account;

-- The public keys of a person's info (USER.public_info), without values larger than the current limit of info: older
-- rows would otherwise be read completely wherever people are listed.
CREATE FUNCTION public_person_info(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(p_info)
 WHERE key IN ('avatar', 'avatar_url', 'container', 'extra') AND octet_length(value::text) <= 16000 $$;

-- A person in a list: like user_record, with the public keys of info only.
CREATE VIEW person_record AS
SELECT id, created, name, fullname, email_addr, api_key_encrypted, passwd_hash, admin, pro, "restrict", privacy_mode, subscribed,
       newsletter_prompted, valid_email, confirmation_email_sent, consent, locale, flags, category, catalog_api,
       google_user_id, github_user_id, orcid_user_id, public_person_info(info) AS info
  FROM user_record;
