-- Rules of owners (info.task_rules, crowdd/kinds/task_rules.py): what becomes of a task when its counted answers meet some conditions. Only
-- where the first answer field is a label, for tasks that want at most 50 answers, and not in drafts. complete and more_answers are looked at whenever
-- an answer counts, review when a task is complete. What was decided stays in rule_decision with the version of the rules.
--
-- Lock order: the caller holds the ledger row of the task; rules are only read. They change under the project's lock.

-- A new version of the rules of a project. Versions that decided nothing go when no transaction can still be reading them.
CREATE FUNCTION keep_rules(p_project bigint, p_rules jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE any_left boolean := CASE WHEN jsonb_typeof(p_rules) = 'array' THEN p_rules <> '[]' ELSE false END; last int;
BEGIN
    last := (SELECT max(version) FROM task_rules WHERE project_id = p_project);
    IF NOT any_left AND last IS NULL THEN RETURN; END IF;
    INSERT INTO task_rules (project_id, version, rules, since) VALUES (p_project, coalesce(last, 0) + 1, CASE WHEN any_left THEN p_rules ELSE '[]' END, clock());
    UPDATE project_ledger SET has_rules = any_left WHERE project_id = p_project AND has_rules <> any_left;
    DELETE FROM task_rules v WHERE project_id = p_project
       AND EXISTS (SELECT FROM task_rules n WHERE n.project_id = p_project AND n.version > v.version AND n.since < clock() - interval '1 day')
       AND NOT EXISTS (SELECT FROM rule_decision d WHERE d.project_id = p_project AND d.version = v.version);
END $$;

-- What a condition measures of answers; null: it cannot be told. skill: only of volunteers who are known to be right so often.
CREATE FUNCTION rule_measure(c jsonb, w weighed, p_choices jsonb[]) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE skill real := (c->>'skill')::real; wanted int; last int; classes int[] := '{}'; votes int[] := array_fill(0, ARRAY[51]); n int := 0; pairs int := 0; l int;
BEGIN
    IF c->>'measure' = 'confidence' THEN RETURN CASE WHEN w.class IS NOT NULL THEN sureness(w) END; END IF;
    IF c ? 'choice' THEN wanted := coalesce(choice_position(p_choices, c->'choice'), 0); END IF;
    FOR i IN 1 .. coalesce(cardinality(w.runs), 0) LOOP
        CONTINUE WHEN skill IS NOT NULL AND (w.accuracies[i] >= skill) IS NOT TRUE;
        l := coalesce(w.said[i], 0);                    -- 0: it does not fit
        classes := classes || l;
        IF l > 0 THEN pairs := pairs + votes[l]; votes[l] := votes[l] + 1; n := n + 1; END IF;
    END LOOP;
    CASE c->>'measure'
    WHEN 'answers' THEN RETURN cardinality(classes);
    WHEN 'votes' THEN RETURN CASE WHEN wanted IS NULL THEN (SELECT max(v) FROM unnest(votes) v) WHEN wanted = 0 THEN 0 ELSE votes[wanted] END;
    WHEN 'choices' THEN RETURN (SELECT count(*) FROM unnest(votes) v WHERE v > 0);
    WHEN 'agreement' THEN RETURN CASE WHEN n > 1 THEN share_of_pairs(pairs, n) END;
    WHEN 'in_a_row' THEN
        n := cardinality(classes); last := coalesce(wanted, classes[n]);
        WHILE n > 0 AND last > 0 AND classes[n] = last LOOP n := n - 1; END LOOP;
        RETURN cardinality(classes) - n;
    END CASE;
END $$;

-- Whether all conditions of a rule are met.
CREATE FUNCTION rule_holds(p_rule jsonb, w weighed, p_choices jsonb[]) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE c jsonb; x real;
BEGIN
    FOR c IN SELECT jsonb_array_elements(p_rule->'when') LOOP
        x := rule_measure(c, w, p_choices);
        IF x IS NULL OR x < (c->>'min')::real OR x > (c->>'max')::real THEN RETURN false; END IF;
    END LOOP;
    RETURN true;
END $$;

-- Has the rules decide about an open task whose counted answers amount to w. One that completes it is named in w.rule, and the caller
-- does it. One that asks for more answers does so once for each task: it raises what the task gets at most, and the task has these
-- answers before a rule or the model of the volunteers ends it.
CREATE FUNCTION follow_rules(INOUT t task_ledger, INOUT w weighed, p_now timestamptz) LANGUAGE plpgsql AS $$
DECLARE v record; r jsonb; more int; was task_ledger := t;
BEGIN
    SELECT s.version, s.rules, m.choices INTO v FROM task_rules s JOIN trust_model m USING (project_id) WHERE s.project_id = t.project_id ORDER BY s.version DESC LIMIT 1;
    IF NOT FOUND THEN RETURN; END IF;
    FOR r IN SELECT x.r FROM jsonb_array_elements(v.rules) WITH ORDINALITY x (r, nth) WHERE x.r->>'then' <> 'review' ORDER BY nth LOOP
        CONTINUE WHEN NOT rule_holds(r, w, v.choices);
        IF r->>'then' = 'complete' THEN
            CONTINUE WHEN t.answers < t.least_answers OR t.answers >= coalesce(t.max_answers, t.n_answers);
            t.max_answers := coalesce(t.max_answers, t.n_answers);
            w.rule := jsonb_build_object('name', r->>'name', 'version', v.version);
            PERFORM decided_by_rule(t, w, r, v.version, p_now);
            EXIT;
        END IF;
        more := least((r->>'answers')::int, 50 - coalesce(t.max_answers, t.n_answers));
        CONTINUE WHEN more <= 0;
        CONTINUE WHEN NOT decided_by_rule(t, w, r, v.version, p_now);
        t.least_answers := greatest(t.least_answers, t.answers + more);
        IF t.max_answers IS NULL THEN t.n_answers := t.n_answers + more;
        ELSE
            t.max_answers := t.max_answers + more;
            t.n_answers := wanted_so_far(t, w.min_answers);
        END IF;
    END LOOP;
    IF (t.n_answers, t.max_answers, t.least_answers) IS NOT DISTINCT FROM (was.n_answers, was.max_answers, was.least_answers) THEN RETURN; END IF;
    IF coalesce(t.max_answers, t.n_answers) <> coalesce(was.max_answers, was.n_answers) THEN PERFORM keep_version('task_ledger', to_jsonb(was), false); END IF;
    UPDATE task_ledger SET n_answers = t.n_answers, max_answers = t.max_answers, least_answers = t.least_answers, changed_xid = change_stamp(), requeued_xid = stamp(t.project_id)
     WHERE project_id = t.project_id AND task_id = t.task_id RETURNING * INTO t;
END $$;

-- What conditions measure (rule_measure), for those who check a decision later: the counted answers in their order, with the class of each (null: it does not
-- fit) and how accurate its volunteer was taken to be, and the confidence.
CREATE FUNCTION weighed_for_rules(w weighed) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT jsonb_build_object('generation', (w).generation, 'answers', (w).runs, 'classes', (w).said, 'accuracies', (w).accuracies, 'confidence', CASE WHEN (w).class IS NOT NULL THEN sureness(w) END) $$;

-- Writes down what a rule does with a task, and of what that was made. False: it has asked for more answers before.
CREATE FUNCTION decided_by_rule(t task_ledger, w weighed, p_rule jsonb, p_version int, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rule_decision AS d (project_id, task_id, rule, version, kind, answers, at, weighed_by)
    VALUES (t.project_id, t.task_id, p_rule->>'name', p_version, p_rule->>'then', t.answers, p_now, weighed_for_rules(w))
        ON CONFLICT (project_id, task_id, rule, kind) DO UPDATE SET version = excluded.version, answers = excluded.answers, at = excluded.at, weighed_by = excluded.weighed_by
     WHERE d.kind <> 'more_answers';
    RETURN FOUND;
END $$;

-- Of a task that is complete now: which rules want it reviewed. What was decided about an earlier result goes.
CREATE FUNCTION review_by_rules(t task_ledger, w weighed, p_again boolean, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_again THEN
        DELETE FROM rule_decision WHERE project_id = t.project_id AND task_id = t.task_id AND (kind = 'review' OR kind = 'complete' AND rule IS DISTINCT FROM w.rule->>'name');
    END IF;
    IF w.ruled IS NOT TRUE OR t.mode = 'gold' THEN RETURN; END IF;
    PERFORM decided_by_rule(t, w, x.r, v.version, p_now)
       FROM (SELECT s.version, s.rules, m.choices FROM task_rules s JOIN trust_model m USING (project_id) WHERE s.project_id = t.project_id ORDER BY s.version DESC LIMIT 1) v
      CROSS JOIN LATERAL jsonb_array_elements(v.rules) x (r) WHERE x.r->>'then' = 'review' AND rule_holds(x.r, w, v.choices);
END $$;

-- Whether a rule completed a task before it had all its answers.
CREATE FUNCTION is_ruled(t task_ledger) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT (t).done AND EXISTS (SELECT FROM rule_decision WHERE project_id = (t).project_id AND task_id = (t).task_id AND kind = 'complete') $$;

-- What rules would have done with the tasks that were completed last, by the answers that count and by what is known of their volunteers
-- now: of each rule the tasks, and how many answers it would have spared or asked for. replayed, counted: all tasks and their answers.
CREATE FUNCTION replay_rules(p_project bigint, p_rules jsonb, p_tasks int)
RETURNS TABLE (nth int, tasks int, answers int, replayed int, counted int) STABLE LANGUAGE plpgsql AS $$
DECLARE x record; w weighed; r jsonb; c jsonb[] := (SELECT choices FROM trust_model WHERE project_id = p_project); n_rules int := jsonb_array_length(p_rules);
        n int[] := array_fill(0, ARRAY[n_rules]); m int[] := array_fill(0, ARRAY[n_rules]); asked boolean[]; least_ int; more int; ended boolean; size int;
BEGIN
    replayed := 0; counted := 0;
    FOR x IN SELECT f.task_id, f.task_run_ids AS ids
               FROM (SELECT o.task_id, o.task_run_ids FROM result o WHERE o.project_id = p_project AND o.last_version AND o.reason IS NOT NULL ORDER BY o.id DESC LIMIT p_tasks) f
               JOIN task_ledger l ON l.project_id = p_project AND l.task_id = f.task_id AND l.mode <> 'gold' LOOP
        size := cardinality(x.ids); replayed := replayed + 1; counted := counted + size; ended := false; least_ := 0; asked := array_fill(false, ARRAY[n_rules]);
        FOR i IN 1..size LOOP
            w := weigh(p_project, x.task_id, '', x.ids[1:i], false);
            FOR j IN 1..n_rules LOOP
                r := p_rules->(j - 1);
                CONTINUE WHEN CASE r->>'then' WHEN 'complete' THEN i = size OR i < least_ WHEN 'more_answers' THEN asked[j] ELSE true END;
                CONTINUE WHEN NOT rule_holds(r, w, c);
                n[j] := n[j] + 1; asked[j] := true; ended := r->>'then' = 'complete';
                more := CASE WHEN ended THEN size - i ELSE (r->>'answers')::int END;
                m[j] := m[j] + more; least_ := i + more;
                EXIT WHEN ended;
            END LOOP;
            EXIT WHEN ended;
        END LOOP;
        FOR j IN 1..n_rules LOOP
            IF p_rules->(j - 1)->>'then' = 'review' AND rule_holds(p_rules->(j - 1), w, c) THEN n[j] := n[j] + 1; END IF;
        END LOOP;
    END LOOP;
    FOR j IN 1..n_rules LOOP nth := j; tasks := n[j]; answers := m[j]; RETURN NEXT; END LOOP;
END $$;
