-- Gold tasks: tasks whose right answer is known (gold_task, docs/projects/trust.md). They are out of the work: mode gold, retired with the
-- reason gold, in no number of tasks, never complete. Leases of them take no place, and their answers are stored uncounted. For
-- volunteers they are tasks like any other.
--
-- Lock order as in 20_submission.sql: project -> project_ledger -> ledger rows -> gold_task. Numbers of a project's gold tasks are
-- dense, so that one is drawn by a look-up.

CREATE FUNCTION gold_share_of(p_info jsonb, p_key text, p_default real, p_maximum real) RETURNS real IMMUTABLE LANGUAGE sql AS $$
SELECT CASE WHEN jsonb_typeof(p_info->p_key) = 'number' THEN least(greatest((p_info->>p_key)::numeric, 0), p_maximum)::real ELSE p_default END $$;

-- How likely the next task of a volunteer is gold, who has given so many answers. Early often, then rarely; never a fixed number of
-- tasks at the beginning, or who knows the rule would only take care with these.
CREATE FUNCTION gold_chance(p project_ledger, p_answers bigint) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN greatest(p.gold_rate, p.gold_start * 2 ^ (-p_answers / 3.0));
END $$;

-- Whether the caller could have an ordinary task. Who has done all gets no gold task either, for it would be known as one. From their
-- place in the order on it looks at fifty open tasks; one that is missed means a gold task less.
CREATE FUNCTION has_ordinary_task(p project_ledger, v asker, p_own bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE f record;
BEGIN
    SELECT k1, k2 INTO f FROM position WHERE project_id = p.project_id AND actor = v.actor AND scan = 'priority/' || p.epoch || v.suffix;
    RETURN EXISTS (
        SELECT FROM (SELECT task_id FROM task_ledger WHERE project_id = p.project_id AND open AND (rank, task_id) > (coalesce(f.k1, '-infinity'), coalesce(f.k2, 0))
                      ORDER BY rank, task_id LIMIT 50) o
         WHERE NOT o.task_id = ANY (p_own)
           AND NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = p.project_id AND r.task_id = o.task_id AND r.actor = ANY (v.actors))
           AND NOT share_taken(p, v, o.task_id));
END $$;

-- Leases a gold task, unless somebody is changing it. Null: its row stays locked, but the caller has just answered it, or it is no gold task by now, or
-- their network has its share of it. That is as large as of other tasks, and all answers make it, for none of them counts.
CREATE FUNCTION grant_gold(p project_ledger, v asker, p_task bigint, p_held int, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE used_up boolean;
BEGIN
    PERFORM FROM task_ledger WHERE project_id = p.project_id AND task_id = p_task FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN false; END IF;
    v.every := true;
    UPDATE task_ledger SET leases = leases + 1 WHERE project_id = p.project_id AND task_id = p_task AND mode = 'gold'
       AND NOT EXISTS (SELECT FROM task_run WHERE project_id = p.project_id AND task_id = p_task AND actor = ANY (v.actors))
       AND NOT share_taken(p, v, p_task);
    IF NOT FOUND THEN RETURN NULL; END IF;
    DELETE FROM expired_lease WHERE project_id = p.project_id AND actor = v.actor AND task_id = p_task
    RETURNING expires >= granted + 6 * p.lease INTO used_up;
    PERFORM new_lease(p, v, p_task, p_held, used_up, p_now);
    RETURN true;
END $$;

-- Leases a gold task drawn at random, or none. Who has answered as many as there are is drawn for less often: most draws are in vain. cut: the
-- row of one stays locked in vain.
CREATE FUNCTION lease_gold(p project_ledger, v asker, p_given int, p_own bigint[], p_now timestamptz, OUT task bigint, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE t bigint; n int; granted boolean;
BEGIN
    cut := false; v.every := true;
    FOR tries IN 1..CASE WHEN p_given < p.n_gold THEN 8 ELSE 2 END LOOP
        n := 1 + floor(random() * p.n_gold);
        SELECT task_id INTO t FROM gold_task WHERE project_id = p.project_id AND number = n;
        CONTINUE WHEN NOT FOUND OR t = ANY (p_own)
            OR EXISTS (SELECT FROM task_run WHERE project_id = p.project_id AND task_id = t AND actor = ANY (v.actors))
            OR (SELECT skipped FROM expired_lease WHERE project_id = p.project_id AND actor = v.actor AND task_id = t)
            OR share_taken(p, v, t);
        granted := grant_gold(p, v, t, cardinality(p_own), p_now);
        IF granted THEN task := t; RETURN; END IF;
        cut := cut OR granted IS NULL;
    END LOOP;
END $$;

-- find_tasks in a project with gold tasks: each task is gold by chance, leased after those before it. Under incremental volunteers see
-- the answer before theirs, which gold tasks do not have: there none is mixed in.
CREATE FUNCTION find_with_gold(p project_ledger, v asker, p_order text, p_need int, p_own bigint[], p_now timestamptz,
                               OUT got bigint[], OUT blocked bigint, OUT at_level int, OUT cut boolean) LANGUAGE plpgsql AS $$
DECLARE w record; given int; answered bigint; ordinary int; free int; t bigint; mixes boolean := mode_of(p.sched) <> 'one_at_a_time';
BEGIN
    got := '{}'; cut := false;
    SELECT gold_given INTO given FROM reliability WHERE project_id = p.project_id AND actor = v.actor;
    given := coalesce(given, 0);
    SELECT runs INTO answered FROM volunteer WHERE project_id = p.project_id AND actor = v.actor;       -- as of the last fold
    answered := coalesce(answered, 0) + cardinality(p_own);
    WHILE cardinality(got) < p_need LOOP
        ordinary := 0; t := NULL; free := p_need - cardinality(got);
        WHILE ordinary < free AND (NOT mixes OR random() >= gold_chance(p, answered + cardinality(got) + ordinary)) LOOP ordinary := ordinary + 1; END LOOP;
        IF ordinary > 0 THEN
            w := find_tasks(p, v, p_order, ordinary, p_own || got, p_now);
            got := got || w.got; blocked := coalesce(blocked, w.blocked); at_level := coalesce(at_level, w.at_level); cut := cut OR w.cut;
            EXIT WHEN cardinality(w.got) < ordinary;
        END IF;
        EXIT WHEN ordinary = free;
        IF has_ordinary_task(p, v, p_own || got) THEN
            w := lease_gold(p, v, given, p_own || got, p_now);
            t := w.task; cut := cut OR w.cut;
        END IF;
        IF t IS NOT NULL THEN
            got := array_append(got, t); given := given + 1;
        ELSE
            w := find_tasks(p, v, p_order, 1, p_own || got, p_now);
            got := got || w.got; blocked := coalesce(blocked, w.blocked); at_level := coalesce(at_level, w.at_level); cut := cut OR w.cut;
            EXIT WHEN w.got = '{}';
        END IF;
    END LOOP;
END $$;

-- What chance gives an ask of a project with gold tasks (take_next, which says what task and busy mean): a gold task as lease_gold draws it, or one
-- as lease_started does. Either in the same way, so that an ask for one takes as long as for the other. What they have had before is left to the
-- general way.
CREATE FUNCTION take_drawn(p project_ledger, v asker, p_gold boolean, p_now timestamptz, OUT task bigint, OUT busy boolean) LANGUAGE plpgsql AS $$
DECLARE f record; o bigint; tries int;
BEGIN
    IF p_gold THEN
        IF NOT has_ordinary_task(p, v, '{}') THEN RETURN; END IF;
        v.every := true;
        tries := CASE WHEN (SELECT gold_given FROM reliability WHERE project_id = p.project_id AND actor = v.actor) >= p.n_gold THEN 2 ELSE 8 END;
        SELECT t.task_id, c.ctid = t.ctid AS current INTO f
          FROM (SELECT l.ctid, l.task_id FROM (SELECT 1 + floor(random() * p.n_gold)::int AS number FROM generate_series(1, tries) OFFSET 0) d
                 CROSS JOIN LATERAL (SELECT task_id FROM gold_task WHERE project_id = p.project_id AND number = d.number OFFSET 0) g
                 CROSS JOIN LATERAL (SELECT ctid, task_id FROM task_ledger WHERE project_id = p.project_id AND task_id = g.task_id AND mode = 'gold' OFFSET 0) l
                 WHERE (SELECT true FROM task_run x WHERE x.project_id = p.project_id AND x.task_id = l.task_id AND x.actor = ANY (v.actors) LIMIT 1) IS NULL
                   AND (SELECT true FROM expired_lease x WHERE x.project_id = p.project_id AND x.actor = v.actor AND x.task_id = l.task_id) IS NULL
                   AND NOT share_taken(p, v, l.task_id)
                 LIMIT 1) c
          JOIN task_ledger t ON t.project_id = p.project_id AND t.task_id = c.task_id
           FOR UPDATE OF t SKIP LOCKED;
    ELSE
        o := floor(random() * p.n_ordinals);
        SELECT t.task_id, c.ctid = t.ctid AS current INTO f
          FROM (SELECT l.ctid, l.task_id FROM (
                       SELECT ctid, task_id FROM task_ledger
                        WHERE project_id = p.project_id AND open AND ordinal = ANY (ARRAY(SELECT 1 + (o + further) % greatest(p.n_ordinals, 1) FROM generate_series(0, 29) further))
                        ORDER BY answers + leases DESC, random()) l
                 WHERE (SELECT true FROM task_run x WHERE x.project_id = p.project_id AND x.task_id = l.task_id AND x.actor = ANY (v.actors) LIMIT 1) IS NULL
                   AND (SELECT true FROM expired_lease x WHERE x.project_id = p.project_id AND x.actor = v.actor AND x.task_id = l.task_id) IS NULL
                   AND NOT share_taken(p, v, l.task_id)
                 LIMIT 1) c
          JOIN task_ledger t ON t.project_id = p.project_id AND t.task_id = c.task_id
           FOR UPDATE OF t SKIP LOCKED;
    END IF;
    busy := FOUND;
    IF f.current IS NOT TRUE THEN RETURN; END IF;
    UPDATE task_ledger SET leases = leases + 1 WHERE project_id = p.project_id AND task_id = f.task_id;
    PERFORM new_lease(p, v, f.task_id, 0, false, p_now);
    task := f.task_id;
END $$;

-- Placeless leases ---------------------------------------------------------------------------------------------------------------
--
-- People who name a gold task get a lease of it, however many have one. So that this does not tell gold tasks, a volunteer in a project that
-- has some is told of every task that they hold it, of a full or finished one, too. Where no place is free, they get the right to answer late
-- (expired_lease) as placeless: to them it is a lease in every respect. It is renewed, given back and lapses like one, and comes again with
-- their other leases (own_tasks).

CREATE FUNCTION lease_placeless(p_project bigint, p_actor text, p_task bigint, p_granted timestamptz, p_expires timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO expired_lease (project_id, actor, task_id, granted, expires, skipped, placeless) VALUES (p_project, p_actor, p_task, p_granted, p_expires, false, true)
    ON CONFLICT (project_id, actor, task_id) DO UPDATE SET granted = p_granted, expires = p_expires, skipped = false, placeless = true $$;

-- Prolongs the placeless lease that a person has of a task, the volunteer's own if there is one. With p_end it ends if it had all its time. When it
-- ends; null: there is none.
CREATE FUNCTION prolong_placeless(p project_ledger, p_actors text[], p_task bigint, p_end boolean, p_now timestamptz) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE ends timestamptz;
BEGIN
    UPDATE expired_lease SET expires = prolonged(granted, expires, p.lease, p_now), placeless = NOT p_end OR prolonged(granted, expires, p.lease, p_now) > p_now
     WHERE project_id = p.project_id AND task_id = p_task AND placeless AND actor = (
           SELECT actor FROM expired_lease WHERE project_id = p.project_id AND actor = ANY (p_actors) AND task_id = p_task AND placeless
            ORDER BY actor <> p_actors[1] LIMIT 1)
    RETURNING expires INTO ends;
    RETURN ends;
END $$;

-- All that a volunteer holds, in the order in which it was given. What has lapsed is prolonged, or ends if it had all its time. Of what is
-- placeless nothing that they could not get again from a scan: such a lease takes a place that has become free, and else is left to the
-- scans, which wait before a row that somebody has locked. Nor what they have answered as another of their actors.
CREATE FUNCTION own_tasks(p project_ledger, v asker, p_now timestamptz) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE r expired_lease; left_out bigint[] := '{}';
BEGIN
    UPDATE expired_lease SET expires = prolonged(granted, expires, p.lease, p_now), placeless = prolonged(granted, expires, p.lease, p_now) > p_now
     WHERE project_id = p.project_id AND actor = v.actor AND placeless AND expires <= p_now;
    FOR r IN SELECT x.* FROM expired_lease x JOIN task_ledger l ON l.project_id = x.project_id AND l.task_id = x.task_id AND l.open
              WHERE x.project_id = p.project_id AND x.actor = v.actor AND x.placeless AND NOT p.paused ORDER BY x.task_id LOOP
        IF grant_lease(p, v, r.task_id, 0, false, NULL, p_now) THEN
            UPDATE lease SET granted = r.granted, expires = r.expires WHERE project_id = p.project_id AND actor = v.actor AND task_id = r.task_id;
        ELSE
            left_out := left_out || r.task_id;
        END IF;
    END LOOP;
    RETURN ARRAY(SELECT task_id FROM (
        SELECT task_id, granted, id FROM lease WHERE project_id = p.project_id AND actor = v.actor UNION ALL
        SELECT task_id, granted, 0 FROM expired_lease x WHERE project_id = p.project_id AND actor = v.actor AND placeless AND NOT task_id = ANY (left_out)
           AND NOT EXISTS (SELECT FROM task_run t WHERE t.project_id = p.project_id AND t.task_id = x.task_id AND t.actor = ANY (v.actors))) h
        ORDER BY granted, id, task_id);
END $$;

-- Comparing ------------------------------------------------------------------------------------------------------------------

-- The value of an answer that is compared with the right ones: as in answer_values, by this answer alone. No value (not a null of JSON,
-- which says "can't tell"): the answer leaves it out.
CREATE FUNCTION gold_value(p_path text[], p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT answer_value(p_info, CASE WHEN p_path IS NOT NULL THEN p_path WHEN jsonb_typeof(p_info) = 'object' AND p_info ? 'answer' THEN '{answer}' END) $$;

-- How answers to a gold task are compared: its own rule, else by the type of the first answer field. {type, threshold?, tolerance?}
CREATE FUNCTION gold_rule(p_field jsonb, p_rule jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT coalesce(nullif(p_rule, 'null'), CASE
    WHEN p_field->>'type' = 'labels' THEN '{"type": "set"}'
    WHEN p_field->>'type' IN ('number', 'text', 'boxes', 'points', 'polygon', 'spans', 'transcript', 'areas', 'lines', 'places', 'ranking') THEN jsonb_build_object('type', p_field->'type')
    ELSE '{"type": "equal"}' END)
    || CASE WHEN p_field ? 'tolerance' AND NOT coalesce(p_rule ? 'tolerance', false) THEN jsonb_build_object('tolerance', p_field->'tolerance') ELSE '{}' END $$;

-- A value in which texts have no differences of case, of spaces at their ends and of the form of characters.
CREATE FUNCTION folded_value(p_value jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT CASE jsonb_typeof(p_value) WHEN 'string' THEN to_jsonb(folded(p_value #>> '{}')) ELSE p_value END $$;

-- Whether two arrays have so many elements in common: the Jaccard index.
CREATE FUNCTION sets_agree(p_a jsonb, p_b jsonb, p_threshold float8) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_typeof(p_a) <> 'array' OR jsonb_typeof(p_b) <> 'array' THEN RETURN false; END IF;
    RETURN (WITH a AS (SELECT DISTINCT folded_value(e) AS e FROM jsonb_array_elements(p_a) e), b AS (SELECT DISTINCT folded_value(e) AS e FROM jsonb_array_elements(p_b) e),
                 both_ AS (SELECT count(*)::float8 AS n FROM a JOIN b USING (e)), either AS (SELECT count(*)::float8 AS n FROM (SELECT e FROM a UNION SELECT e FROM b) u)
            SELECT coalesce(both_.n / nullif(either.n, 0), 1) >= p_threshold - 1e-9 FROM both_, either);
END $$;

CREATE FUNCTION numbers_agree(p_a jsonb, p_b jsonb, p_tolerance numeric) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_typeof(p_a) <> 'number' OR jsonb_typeof(p_b) <> 'number' THEN RETURN false; END IF;
    RETURN abs(p_a::numeric - p_b::numeric) <= p_tolerance;
END $$;

-- Whether a value is right by a rule; what is left out is not. Null: this takes a library, so that a job decides (crowdd/features/results/gold_comparison.py).
CREATE FUNCTION is_right(p_rule jsonb, p_answers jsonb, p_value jsonb) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE type_ text := p_rule->>'type'; right_ boolean := false; a jsonb;
BEGIN
    IF p_value IS NULL THEN RETURN false; END IF;
    IF EXISTS (SELECT FROM jsonb_array_elements(p_answers) e WHERE e = p_value) THEN RETURN true; END IF;
    IF p_value IN ('null', '[]') THEN RETURN false; END IF; -- "can't tell" and "nothing there" are like nothing else
    IF type_ IN ('boxes', 'points', 'polygon', 'spans', 'transcript', 'areas', 'lines', 'places', 'ranking') THEN RETURN NULL; END IF;
    FOR a IN SELECT jsonb_array_elements(p_answers) LOOP
        right_ := CASE type_
            WHEN 'set' THEN sets_agree(a, p_value, coalesce((p_rule->>'threshold')::float8, 1))
            WHEN 'number' THEN numbers_agree(a, p_value, coalesce((p_rule->>'tolerance')::numeric, 0))
            WHEN 'text' THEN jsonb_typeof(a) = 'string' AND jsonb_typeof(p_value) = 'string' AND plain_text(a #>> '{}') = plain_text(p_value #>> '{}')
            WHEN 'equal' THEN jsonb_typeof(a) = 'string' AND folded_value(a) = folded_value(p_value)
            ELSE false END;
        IF right_ THEN RETURN true; END IF;
    END LOOP;
    RETURN CASE WHEN type_ = 'text' AND (p_rule->>'threshold')::float8 > 0 AND jsonb_typeof(p_value) = 'string' THEN NULL ELSE false END;
END $$;

-- Writes what an answer to a gold task teaches, and returns what its evidence says (task_run.taught). The caller holds the ledger row.
CREATE FUNCTION teach_gold(r task_run, p_answers jsonb, p_value jsonb, p_right boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE q trust_model; taught jsonb;
BEGIN
    SELECT * INTO q FROM trust_model WHERE project_id = r.project_id;
    taught := jsonb_build_object('generation', coalesce(q.generation, 0), 'class', choice_position(q.choices, p_value),
                                 'truth', choice_position(q.choices, CASE WHEN p_right THEN p_value ELSE p_answers->0 END));
    PERFORM append_gold(r, p_right, taught, 1);
    RETURN taught;
END $$;

-- Appends what an answer to a gold task teaches, or (p_sign -1) what it taught.
CREATE FUNCTION append_gold(r task_run, p_right boolean, p_taught jsonb, p_sign int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE one_hot real[]; k int; said_ smallint := (p_taught->>'class')::smallint; truth int := (p_taught->>'truth')::int;
BEGIN
    UPDATE gold_task SET n_seen = n_seen + p_sign, n_right = n_right + p_sign * p_right::int WHERE project_id = r.project_id AND task_id = r.task_id;
    IF said_ IS NOT NULL AND truth IS NOT NULL THEN
        SELECT q.k INTO k FROM trust_model q WHERE q.project_id = r.project_id AND q.generation = (p_taught->>'generation')::int;
        IF truth <= k THEN
            one_hot := array_fill(0::real, ARRAY[k]);
            one_hot[truth] := 1;
        END IF;
    END IF;
    INSERT INTO evidence (project_id, task_id, generation, sign, gold, actors, classes, posterior, is_right)
    VALUES (r.project_id, r.task_id, (p_taught->>'generation')::int, p_sign, true, ARRAY[r.actor], CASE WHEN one_hot IS NOT NULL THEN ARRAY[said_] END, one_hot, p_right);
END $$;

-- An answer was given to a gold task, or changed: whether it is right, as far as that is found out here. Trials teach nothing.
CREATE FUNCTION judge_gold(r task_run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE g gold_task; path text[]; field jsonb; right_ boolean; value jsonb; taught_ jsonb;
BEGIN
    SELECT * INTO g FROM gold_task WHERE project_id = r.project_id AND task_id = r.task_id;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT answer_path, answer_fields->0 INTO path, field FROM project WHERE id = r.project_id;
    value := gold_value(path, r.info);
    right_ := is_right(gold_rule(field, g.rule), g.answer, value);
    IF right_ IS NOT NULL AND NOT r.trial THEN taught_ := teach_gold(r, g.answer, value, right_); END IF;
    UPDATE task_run SET gold = true, is_right = right_, taught = taught_ WHERE project_id = r.project_id AND id = r.id;
END $$;

-- Takes back what an answer to a gold task taught, because it goes or changes.
CREATE FUNCTION unteach_gold(r task_run) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF r.taught IS NOT NULL THEN PERFORM append_gold(r, r.is_right, r.taught, -1); END IF;
END $$;

-- A job has compared an answer that was still to be compared. False: it has changed, or is gone, or has been compared.
CREATE FUNCTION decide_gold(p_project bigint, p_run bigint, p_info jsonb, p_right boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE r task_run; answers jsonb;
BEGIN
    SELECT * INTO r FROM task_run WHERE project_id = p_project AND id = p_run;
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = r.task_id FOR UPDATE;
    SELECT answer INTO answers FROM gold_task WHERE project_id = p_project AND task_id = r.task_id;
    UPDATE task_run SET is_right = p_right WHERE project_id = p_project AND id = p_run AND gold AND is_right IS NULL AND info = p_info RETURNING * INTO r;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM gold_failure WHERE project_id = p_project AND run = p_run;
    IF NOT r.trial THEN
        UPDATE task_run SET taught = teach_gold(r, answers, gold_value((SELECT answer_path FROM project WHERE id = p_project), r.info), p_right)
         WHERE project_id = p_project AND id = p_run;
    END IF;
    RETURN true;
END $$;

-- What a volunteer is told about the answer they gave to a gold task: {is_right, answers, message}; null where nothing is said.
CREATE FUNCTION gold_feedback(p_project bigint, p_run bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT gold_feedback FROM project_ledger WHERE project_id = p_project) IS NOT TRUE THEN RETURN NULL; END IF;
    RETURN (SELECT jsonb_build_object('is_right', r.is_right, 'answers', g.answer, 'message', coalesce(g.message, 'null'))
              FROM task_run r JOIN gold_task g USING (project_id, task_id) WHERE r.project_id = p_project AND r.id = p_run AND r.gold);
END $$;

-- What a volunteer is told about themselves: of their gold answers, in steps of ten, how many were right, and between which shares that
-- lies with 95 % (Wilson 1927). In steps and only those of past hours, or the figure would tell after each answer whether its task was gold.
-- Null before the tenth.
CREATE FUNCTION shown_accuracy(p_project bigint, p_actor text) RETURNS jsonb STABLE LANGUAGE sql AS $$
WITH judged AS (SELECT is_right, row_number() OVER (ORDER BY id) AS nth, count(*) OVER () / 10 * 10 AS shown FROM task_run
                 WHERE project_id = p_project AND actor = p_actor AND gold AND is_right IS NOT NULL AND NOT trial
                   AND finish_time < date_trunc('hour', clock())),
counts AS (SELECT count(*)::float8 AS n, count(*) FILTER (WHERE is_right)::float8 AS k FROM judged WHERE nth <= shown),
wilson AS (SELECT n, k, (k + 1.96 ^ 2 / 2) / (n + 1.96 ^ 2) AS middle, 1.96 / (n + 1.96 ^ 2) * sqrt(k * (n - k) / n + 1.96 ^ 2 / 4) AS half FROM counts WHERE n > 0)
SELECT jsonb_build_object('n_seen', n::int, 'n_right', k::int, 'low', round(greatest(middle - half, 0)::numeric, 3)::float8,
                          'high', round(least(middle + half, 1)::numeric, 3)::float8) FROM wilson $$;

-- Making and ending --------------------------------------------------------------------------------------------------------------

-- Makes a task a gold task: made; exists (it is one) or no task. p_answers: an array of the values that are right. Who holds it keeps
-- it; their answer will be one to a gold task.
CREATE FUNCTION make_gold(p_project bigint, p_task bigint, p_answers jsonb, p_rule jsonb, p_message jsonb, p_user bigint, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE t task_ledger; n int;
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    IF NOT FOUND THEN RETURN 'no task'; END IF;
    IF t.mode = 'gold' THEN RETURN 'exists'; END IF;
    INSERT INTO stat_delta (project_id, hour, tasks, wanted, completed)
    VALUES (p_project, date_trunc('hour', p_now), -1, t.answers - wanted(t), -(t.done OR t.retired)::int);
    UPDATE task_ledger SET mode = 'gold', retired = true, changed_xid = change_stamp() WHERE project_id = p_project AND task_id = p_task;
    INSERT INTO retirement VALUES (p_project, p_task, 'gold', '', p_user, p_now)
        ON CONFLICT (project_id, task_id) DO UPDATE SET reason = excluded.reason, note = '', user_id = excluded.user_id, at = excluded.at;
    UPDATE project_ledger SET n_gold = n_gold + 1 WHERE project_id = p_project RETURNING n_gold INTO n;
    UPDATE project SET has_gold = true WHERE id = p_project AND NOT has_gold;
    INSERT INTO gold_task (project_id, task_id, number, answer, rule, message, since, user_id, generation, n_seen, n_right)
    SELECT p_project, p_task, n, p_answers, nullif(p_rule, 'null'), nullif(p_message, 'null'), p_now, p_user,
           coalesce((SELECT generation FROM trust_model WHERE project_id = p_project), 0), count(*), count(*) FILTER (WHERE is_right)
      FROM task_run WHERE project_id = p_project AND task_id = p_task AND taught IS NOT NULL;  -- it may have been one before
    DELETE FROM ended_gold WHERE project_id = p_project AND task_id = p_task;
    RETURN 'made';
END $$;

-- The right answers that a cell of a file has: an answer with a value at the first answer field, or the value itself. A text is JSON
-- where the field does not hold texts and it can be read so. An array is several right answers where the field has one value.
CREATE FUNCTION gold_cell(p_project bigint, p_cell jsonb) RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
DECLARE path text[]; field jsonb; value jsonb := p_cell;
BEGIN
    SELECT answer_path, answer_fields->0 INTO path, field FROM project WHERE id = p_project;
    IF jsonb_typeof(value) = 'string' AND field->>'type' IS DISTINCT FROM 'text' AND (field->'choices' @> value) IS NOT TRUE THEN
        BEGIN
            value := (value #>> '{}')::jsonb;
        EXCEPTION WHEN invalid_text_representation THEN NULL;
        END;
    END IF;
    IF jsonb_typeof(value) = 'object' AND value #> coalesce(path, '{answer}') IS NOT NULL THEN value := value #> coalesce(path, '{answer}'); END IF;
    IF jsonb_typeof(value) = 'array' AND field->>'type' IN ('label', 'number', 'text') AND jsonb_array_length(value) BETWEEN 1 AND 20 THEN RETURN value; END IF;
    RETURN jsonb_build_array(value);
END $$;

-- Takes a row of gold_task away; the last number takes its place. The caller holds project and project_ledger.
CREATE FUNCTION drop_gold(p_project bigint, p_task bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE hole int; n int;
BEGIN
    DELETE FROM gold_task WHERE project_id = p_project AND task_id = p_task RETURNING number INTO hole;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE project_ledger SET n_gold = n_gold - 1 WHERE project_id = p_project RETURNING n_gold INTO n;
    UPDATE gold_task SET number = hole WHERE project_id = p_project AND number = n + 1;
    UPDATE project SET has_gold = false WHERE id = p_project AND n = 0;
    RETURN true;
END $$;

-- Ends a gold task: it is put back, or complete as it was before. Leases become rights to answer late until they would have ended,
-- for there may be more of them than places; answers that it got meanwhile count as late ones do. What was right is kept (ended_gold). False: it
-- is none.
CREATE FUNCTION end_gold(p_project bigint, p_task bigint, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE t task_ledger;
BEGIN
    PERFORM FROM project WHERE id = p_project FOR NO KEY UPDATE;
    PERFORM FROM project_ledger WHERE project_id = p_project FOR UPDATE;
    SELECT * INTO t FROM task_ledger WHERE project_id = p_project AND task_id = p_task FOR UPDATE;
    INSERT INTO ended_gold (project_id, task_id, answer, rule, since, ended)
    SELECT project_id, task_id, answer, rule, since, p_now FROM gold_task WHERE project_id = p_project AND task_id = p_task;
    IF NOT drop_gold(p_project, p_task) THEN RETURN false; END IF;
    WITH gone AS (DELETE FROM lease WHERE project_id = p_project AND task_id = p_task RETURNING *)
    INSERT INTO expired_lease SELECT project_id, actor, task_id, granted, expires, false,
           EXISTS (SELECT FROM gold_task WHERE project_id = p_project) FROM gone;
    DELETE FROM retirement WHERE project_id = p_project AND task_id = p_task;
    UPDATE task_ledger SET mode = mode_of((SELECT sched FROM project_ledger WHERE project_id = p_project)), retired = false, leases = 0, changed_xid = change_stamp()
     WHERE project_id = p_project AND task_id = p_task;
    INSERT INTO stat_delta (project_id, hour, tasks, wanted, completed)
    VALUES (p_project, date_trunc('hour', p_now), 1, t.n_answers - t.answers, t.done::int);
    PERFORM reconcile_task(p_project, p_task, false, p_now);
    RETURN true;
END $$;

-- Compares the answers to a gold task again. The caller holds the ledger row.
CREATE FUNCTION rejudge_gold(p_project bigint, p_task bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r task_run;
BEGIN
    UPDATE gold_task SET generation = coalesce((SELECT generation FROM trust_model WHERE project_id = p_project), 0)
     WHERE project_id = p_project AND task_id = p_task;
    FOR r IN SELECT * FROM task_run WHERE project_id = p_project AND task_id = p_task AND gold LOOP
        PERFORM unteach_gold(r);
        PERFORM judge_gold(r);
    END LOOP;
END $$;

-- Changes what is right about a gold task, and compares its answers again. False: it is none.
CREATE FUNCTION change_gold(p_project bigint, p_task bigint, p_answers jsonb, p_rule jsonb, p_message jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM task_ledger WHERE project_id = p_project AND task_id = p_task AND mode = 'gold' FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE gold_task SET answer = p_answers, rule = nullif(p_rule, 'null'), message = nullif(p_message, 'null') WHERE project_id = p_project AND task_id = p_task;
    PERFORM rejudge_gold(p_project, p_task);
    RETURN true;
END $$;

-- Compares the answers to gold tasks again whose project has declared another label since, at most p_maximum tasks; how many. Each in the
-- order of the lock rules; a task that somebody is changing is left for the next time.
CREATE FUNCTION rejudge_due(p_maximum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE g record; n int := 0;
BEGIN
    FOR g IN SELECT t.project_id, t.task_id FROM gold_task t LEFT JOIN trust_model q USING (project_id) WHERE t.generation <> coalesce(q.generation, 0)
              ORDER BY 1, 2 LIMIT p_maximum LOOP
        PERFORM FROM task_ledger WHERE project_id = g.project_id AND task_id = g.task_id AND mode = 'gold' FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        PERFORM rejudge_gold(g.project_id, g.task_id);
        n := n + 1;
    END LOOP;
    RETURN n;
END $$;

-- Forgets the gold tasks among tasks that are deleted, and what the answers to those that are or were gold taught. A project that is gone has
-- no model.
CREATE FUNCTION forget_gold(p_project bigint, p_tasks bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r task_run; t bigint;
BEGIN
    FOR r IN SELECT * FROM task_run WHERE project_id = p_project AND task_id = ANY (p_tasks) AND taught IS NOT NULL
                AND EXISTS (SELECT FROM project WHERE id = p_project) LOOP
        PERFORM unteach_gold(r);
    END LOOP;
    FOR t IN SELECT task_id FROM gold_task WHERE project_id = p_project AND task_id = ANY (p_tasks) LOOP PERFORM drop_gold(p_project, t); END LOOP;
END $$;

-- Keys of the info of these tasks that the first two hundred other tasks lack: a volunteer would know the gold tasks by them.
CREATE FUNCTION telling_keys(p_project bigint, p_tasks bigint[]) RETURNS text[] STABLE LANGUAGE sql AS $$
SELECT coalesce(array_agg(DISTINCT k), '{}') FROM public_task t, jsonb_object_keys(CASE jsonb_typeof(t.info) WHEN 'object' THEN t.info ELSE '{}' END) k
 WHERE t.project_id = p_project AND t.id = ANY (p_tasks)
   AND NOT EXISTS (SELECT FROM (SELECT o.info FROM public_task o WHERE o.project_id = p_project AND NOT o.id = ANY (p_tasks) ORDER BY o.id LIMIT 200) o
                    WHERE jsonb_typeof(o.info) = 'object' AND o.info ? k)
   AND EXISTS (SELECT FROM task o WHERE o.project_id = p_project AND NOT o.id = ANY (p_tasks)) $$;
