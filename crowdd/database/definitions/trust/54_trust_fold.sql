-- Folds evidence: what completed tasks and answers to gold tasks have taught goes into trust_model and reliability. One fold of a project
-- at a time. Nobody waits for it but who adds a class that has not appeared before (new_class).

-- The projects that have evidence to fold, or volunteers to work out again.
CREATE FUNCTION projects_to_fold() RETURNS SETOF bigint STABLE LANGUAGE sql AS $$
WITH RECURSIVE p (id) AS (SELECT min(project_id) FROM evidence UNION ALL
                          SELECT (SELECT min(project_id) FROM evidence WHERE project_id > p.id) FROM p WHERE p.id IS NOT NULL)
SELECT id FROM p WHERE id IS NOT NULL UNION SELECT project_id FROM trust_model WHERE published_upto IS NOT NULL ORDER BY 1 $$;

-- Folds at most p_maximum rows of a project. Returns how many it folded and how many further volunteers it worked out again; 0: nothing is left.
CREATE FUNCTION fold_evidence(p_project bigint, p_maximum int DEFAULT 2000) RETURNS int LANGUAGE plpgsql AS $$
DECLARE q trust_model; a record; n int := 0; ids tid[]; has_model boolean; was boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('fold_evidence', p_project));
    SELECT * INTO q FROM trust_model WHERE project_id = p_project FOR UPDATE;
    has_model := FOUND; was := q.guarded;
    ids := ARRAY(SELECT ctid FROM evidence WHERE project_id = p_project LIMIT p_maximum);
    n := cardinality(ids);
    IF n > 0 AND has_model THEN
        q := published(with_evidence(q, ids));
        IF q.guarded <> was OR abs(q.tasks - q.published_tasks) * 20 > q.published_tasks THEN
            q.published_tasks := q.tasks; q.published_upto := '';
        END IF;
    END IF;
    FOR a IN SELECT * FROM taught(p_project, CASE WHEN has_model THEN q.generation ELSE 0 END, coalesce(q.confused, false), coalesce(q.k, 0), ids) LOOP
        PERFORM fold_volunteer(p_project, q, has_model, a.actor, a.gold_right, a.gold_seen, a.peer_right, a.peer_seen, a.cells);
    END LOOP;
    DELETE FROM evidence WHERE ctid = ANY (ids);
    IF has_model AND q.published_upto IS NOT NULL THEN
        FOR a IN SELECT r FROM reliability r WHERE project_id = p_project AND actor > q.published_upto AND generation = q.generation ORDER BY actor LIMIT 500 LOOP
            PERFORM keep_volunteer(worked_out(q, a.r));
            q.published_upto := (a.r).actor; n := n + 1;
        END LOOP;
        IF NOT EXISTS (SELECT FROM reliability WHERE project_id = p_project AND actor > q.published_upto AND generation = q.generation) THEN q.published_upto := NULL; END IF;
    END IF;
    IF has_model AND n > 0 OR q.published_upto IS NULL AND has_model THEN
        UPDATE trust_model SET prior = q.prior, newcomer = q.newcomer, accuracy = q.accuracy, guarded = q.guarded, tasks = q.tasks, class_sums = q.class_sums,
               confusion_sums = q.confusion_sums, gold_right = q.gold_right, gold_seen = q.gold_seen, peer_right = q.peer_right, peer_seen = q.peer_seen,
               saved = q.saved, sure = q.sure, "full" = q."full", "none" = q."none", published_tasks = q.published_tasks, published_upto = q.published_upto
         WHERE project_id = p_project;
    END IF;
    RETURN n;
END $$;

-- A model with these rows of evidence in its sums.
CREATE FUNCTION with_evidence(q trust_model, p_rows tid[]) RETURNS trust_model STABLE LANGUAGE plpgsql AS $$
DECLARE s record;
BEGIN
    SELECT sum(sign) FILTER (WHERE NOT gold AND posterior IS NOT NULL) AS tasks, sum(sign * saved) AS saved, sum(sign) FILTER (WHERE reason = 'sure') AS sure,
           sum(sign) FILTER (WHERE reason = 'full') AS "full", sum(sign) FILTER (WHERE reason = 'none') AS "none"
      INTO s FROM evidence WHERE ctid = ANY (p_rows) AND generation = q.generation;
    q.tasks := q.tasks + coalesce(s.tasks, 0); q.saved := q.saved + coalesce(s.saved, 0); q.sure := q.sure + coalesce(s.sure, 0);
    q."full" := q."full" + coalesce(s."full", 0); q."none" := q."none" + coalesce(s."none", 0);
    SELECT sum(x.sign * x.right_) FILTER (WHERE x.gold) AS gold_right, sum(x.sign) FILTER (WHERE x.gold) AS gold_seen,
           sum(x.sign * x.right_) FILTER (WHERE NOT x.gold) AS peer_right, sum(x.sign) FILTER (WHERE NOT x.gold) AS peer_seen
      INTO s FROM evidence_by_answer(q.generation, p_rows) x;
    q.gold_right := q.gold_right + coalesce(s.gold_right, 0); q.gold_seen := q.gold_seen + coalesce(s.gold_seen, 0);
    q.peer_right := q.peer_right + coalesce(s.peer_right, 0); q.peer_seen := q.peer_seen + coalesce(s.peer_seen, 0);
    q.class_sums := ARRAY(SELECT coalesce(q.class_sums[j], 0) + coalesce(d.n, 0) FROM generate_series(1, q.k) j LEFT JOIN (
        SELECT p.j, sum(e.sign * exact(p.p)) AS n FROM evidence e, unnest(e.posterior) WITH ORDINALITY p (p, j)
         WHERE e.ctid = ANY (p_rows) AND e.generation = q.generation AND NOT e.gold GROUP BY 1) d USING (j) ORDER BY j);
    IF q.confused THEN
        q.confusion_sums := ARRAY(SELECT q.confusion_sums[c] + coalesce(d.n, 0) FROM generate_series(1, q.k * q.k) c LEFT JOIN (
            SELECT (a.class - 1) * q.k + p.j AS c, sum(e.sign * exact(p.p)) AS n
              FROM evidence e, unnest(e.classes) a (class), unnest(e.posterior) WITH ORDINALITY p (p, j)
             WHERE e.ctid = ANY (p_rows) AND e.generation = q.generation AND NOT e.gold GROUP BY 1) d USING (c) ORDER BY c);
    END IF;
    RETURN q;
END $$;

-- Rows of evidence by answer. right_: how probable what it said was, or of gold whether it was right.
CREATE FUNCTION evidence_by_answer(p_generation int, p_rows tid[])
RETURNS TABLE (actor text, class smallint, sign smallint, gold boolean, right_ float8, posterior real[]) STABLE LANGUAGE sql AS $$
SELECT a.actor, a.class, e.sign, e.gold, CASE WHEN e.gold THEN e.is_right::int::float8 ELSE exact(e.posterior[a.class]) END, e.posterior
  FROM evidence e, ROWS FROM (unnest(e.actors), unnest(e.classes)) a (actor, class) WHERE e.ctid = ANY (p_rows) AND e.generation = p_generation $$;

-- What rows of evidence add to each volunteer. cells: to their confusions.
CREATE FUNCTION taught(p_project bigint, p_generation int, p_confused boolean, p_k int, p_rows tid[])
RETURNS TABLE (actor text, gold_right float8, gold_seen float8, peer_right float8, peer_seen float8, cells float8[]) STABLE LANGUAGE sql AS $$
WITH x AS MATERIALIZED (SELECT * FROM evidence_by_answer(p_generation, p_rows)),
cell AS (SELECT x.actor, (x.class - 1) * p_k + p.j AS c, sum(x.sign * exact(p.p)) AS n
           FROM x, unnest(x.posterior) WITH ORDINALITY p (p, j) WHERE p_confused GROUP BY 1, 2)
SELECT x.actor, coalesce(sum(sign * right_) FILTER (WHERE gold), 0), coalesce(sum(sign) FILTER (WHERE gold), 0),
       coalesce(sum(sign * right_) FILTER (WHERE NOT gold), 0), coalesce(sum(sign) FILTER (WHERE NOT gold), 0),
       CASE WHEN p_confused THEN ARRAY(SELECT coalesce(d.n, 0) FROM generate_series(1, p_k * p_k) c LEFT JOIN (SELECT * FROM cell WHERE cell.actor = x.actor) d USING (c) ORDER BY c) END
  FROM x GROUP BY x.actor ORDER BY x.actor $$;

-- Adds what was taught about a volunteer to their row, which is deleted if nothing is left in it. At 200 tasks all counts are halved. They
-- are never below 0: a row of evidence may be taken back after its counts were halved.
CREATE FUNCTION fold_volunteer(p_project bigint, q trust_model, p_model boolean, p_actor text, p_gold_right float8, p_gold_seen float8, p_peer_right float8,
                               p_peer_seen float8, p_cells float8[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r reliability; generation_ int := CASE WHEN p_model THEN q.generation ELSE 0 END;
BEGIN
    SELECT * INTO r FROM reliability WHERE project_id = p_project AND actor = p_actor;
    IF NOT FOUND OR r.generation <> generation_ THEN
        r := ROW(p_project, p_actor, generation_, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, false, true, coalesce(r.lifted, false));
    END IF;
    r.gold_right := greatest(0, r.gold_right + p_gold_right); r.gold_seen := greatest(0, r.gold_seen + p_gold_seen);
    r.peer_right := greatest(0, r.peer_right + p_peer_right); r.peer_seen := greatest(0, r.peer_seen + p_peer_seen);
    r.gold_given := greatest(0, r.gold_given + p_gold_seen::int);
    IF p_cells IS NOT NULL THEN
        IF r.confusions IS NULL THEN r.confusions := array_fill(0::float8, ARRAY[cardinality(p_cells)]); END IF;
        FOR c IN 1 .. cardinality(p_cells) LOOP r.confusions[c] := greatest(0, r.confusions[c] + p_cells[c]); END LOOP;
    END IF;
    WHILE r.gold_seen + r.peer_seen >= 200 LOOP
        r.gold_right := r.gold_right / 2; r.gold_seen := r.gold_seen / 2; r.peer_right := r.peer_right / 2; r.peer_seen := r.peer_seen / 2; r.halved := r.halved + 1;
        FOR c IN 1 .. coalesce(cardinality(r.confusions), 0) LOOP r.confusions[c] := r.confusions[c] / 2; END LOOP;
    END LOOP;
    IF r.gold_seen + r.peer_seen + r.gold_given = 0 AND NOT r.lifted THEN
        DELETE FROM reliability WHERE project_id = p_project AND actor = p_actor;
    ELSE
        PERFORM keep_volunteer(CASE WHEN p_model THEN worked_out(q, r) ELSE r END);
    END IF;
END $$;

-- Writes the row of a volunteer. Whether the owner lifted what holds of them stays as it is by now.
CREATE FUNCTION keep_volunteer(r reliability) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reliability SELECT r.*
        ON CONFLICT (project_id, actor) DO UPDATE SET generation = r.generation, gold_right = r.gold_right, gold_seen = r.gold_seen, peer_right = r.peer_right,
           peer_seen = r.peer_seen, halved = r.halved, gold_given = r.gold_given, confusions = r.confusions, accuracy = r.accuracy,
           log_likelihoods = r.log_likelihoods, known = r.known, counts = r.counts OR reliability.lifted;
END $$;
