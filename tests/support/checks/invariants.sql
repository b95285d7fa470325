-- What must hold in the ledger at every moment, counted from the rows (crowdd/database/definitions/tasks/20_submission.sql).
-- Each statement gives the rows that break the rule named above it. %(highest)s: what n_answers was at most, where it was
-- lowered or the scheduler changed; 0 where neither happened. %(share)s: the same of counted_per_network, or where answers
-- changed hands.

--- I1 answers, uncounted and leases are counts of rows
SELECT l.task_id, l.answers, l.uncounted, l.leases, r.counted, r.late, h.leases AS held
  FROM task_ledger l,
       LATERAL (SELECT count(*) FILTER (WHERE counted) AS counted, count(*) FILTER (WHERE NOT counted) AS late
                  FROM task_run r WHERE r.project_id = l.project_id AND r.task_id = l.task_id) r,
       LATERAL (SELECT count(*) AS leases FROM lease h WHERE h.project_id = l.project_id AND h.task_id = l.task_id) h
 WHERE (l.answers, l.uncounted, l.leases) <> (r.counted, r.late, h.leases)

--- I1 nothing without its task
SELECT 'lease' AS what, project_id, task_id FROM lease UNION ALL
SELECT 'expired_lease', project_id, task_id FROM expired_lease UNION ALL
SELECT 'run', project_id, task_id FROM task_run UNION ALL
SELECT 'result', project_id, task_id FROM result UNION ALL
SELECT 'task', project_id, id FROM task
EXCEPT ALL SELECT k.what, l.project_id, l.task_id FROM task_ledger l CROSS JOIN LATERAL (
    SELECT 'lease' AS what FROM lease x WHERE (x.project_id, x.task_id) = (l.project_id, l.task_id) UNION ALL
    SELECT 'expired_lease' FROM expired_lease x WHERE (x.project_id, x.task_id) = (l.project_id, l.task_id) UNION ALL
    SELECT 'run' FROM task_run x WHERE (x.project_id, x.task_id) = (l.project_id, l.task_id) UNION ALL
    SELECT 'result' FROM result x WHERE (x.project_id, x.task_id) = (l.project_id, l.task_id) UNION ALL
    SELECT 'task') k

--- what a trigger sets follows from the other columns
SELECT task_id, open, level, rank FROM task_ledger
 WHERE rank <> -priority_0 OR level IS DISTINCT FROM CASE mode WHEN 'by_level' THEN answers + leases END
    OR open <> (NOT retired AND CASE mode WHEN 'unlimited' THEN true WHEN 'one_at_a_time' THEN leases = 0 AND answers < n_answers ELSE answers + leases < n_answers END)

--- I2 never more than wanted
SELECT task_id, mode, answers, leases, n_answers FROM task_ledger
 WHERE answers + CASE WHEN mode IN ('unlimited', 'gold') THEN 0 ELSE leases END > greatest(n_answers, %(highest)s)

--- I3 one run per person and task
SELECT task_id, actor FROM task_run GROUP BY project_id, task_id, actor HAVING count(*) > 1

--- I3 no lease on what one has answered, and no two rights to one task
SELECT task_id, actor FROM lease JOIN task_run USING (project_id, task_id, actor) UNION ALL
SELECT task_id, actor FROM expired_lease JOIN task_run USING (project_id, task_id, actor) UNION ALL
SELECT task_id, actor FROM lease JOIN expired_lease USING (project_id, task_id, actor)

--- I4 done is: enough answers
SELECT task_id FROM task_ledger WHERE done <> (answers >= n_answers) AND mode <> 'gold'

--- I4 a done task has one last result, of its counted runs
SELECT l.task_id, r.ids, x.task_run_ids FROM task_ledger l,
       LATERAL (SELECT array_agg(id ORDER BY id) AS ids FROM task_run r
                 WHERE r.project_id = l.project_id AND r.task_id = l.task_id AND counted) r,
       LATERAL (SELECT count(*) AS n, min(task_run_ids) AS task_run_ids FROM result x
                 WHERE x.project_id = l.project_id AND x.task_id = l.task_id AND last_version) x
 WHERE x.n > 1 OR l.done AND (x.n = 0 OR r.ids <> x.task_run_ids)

--- I4 the last result of a done task says what its counted runs say together
SELECT x.task_id, x.consensus, x.n_compared, x.agreement, x.confidence, v.value, v.n, v.pairs, v.total, v.leading
  FROM task_ledger l JOIN result x ON (x.project_id, x.task_id) = (l.project_id, l.task_id) AND last_version,
       LATERAL (SELECT max(n)::float8 AS n, sum(n * (n - 1))::float8 AS pairs, sum(n)::float8 AS total, count(*) FILTER (WHERE n = most) AS leading, min(value::text) FILTER (WHERE n = most)::jsonb AS value
                  FROM (SELECT value, count(*) AS n, max(count(*)) OVER () AS most FROM answer_values(l.project_id, l.task_id) GROUP BY 1) g) v
 WHERE l.done AND EXISTS (SELECT FROM project p WHERE p.id = l.project_id)  -- what a deleted project leaves is swept
   AND NOT EXISTS (SELECT FROM agreement_due d WHERE d.project_id = l.project_id)
   AND NOT EXISTS (SELECT FROM project p WHERE p.id = l.project_id AND (p.answer_fields->0->>'type' <> 'label' OR p.answer_label IS NOT NULL))
   AND (x.n_compared IS DISTINCT FROM v.total OR x.agreement IS DISTINCT FROM (CASE WHEN v.total > 1 THEN v.pairs / (v.total * (v.total - 1)) ELSE 1 END)::real
        OR x.confidence IS DISTINCT FROM CASE WHEN v.leading = 1 THEN v.n / v.total END::real
        OR x.consensus IS DISTINCT FROM CASE WHEN v.leading = 1 AND octet_length(v.value::text) <= 2000 THEN v.value END
        OR x.consensus_hash IS DISTINCT FROM CASE WHEN v.leading = 1 THEN jsonb_hash_extended(v.value, 0) END)

--- I4 the last result of a done task says what its counted runs say at the declared fields (the rules are in tests/ledger/test_consensus_of_fields.py)
SELECT x.task_id, x.further, c.* FROM task_ledger l JOIN result x ON (x.project_id, x.task_id) = (l.project_id, l.task_id) AND last_version,
       LATERAL consensus_with_compared(l.project_id, l.task_id) c
 WHERE l.done AND NOT EXISTS (SELECT FROM agreement_due d WHERE d.project_id = l.project_id)
   AND (x.consensus, x.consensus_hash, x.n_compared, x.agreement, x.confidence, x.further) IS DISTINCT FROM (c.consensus, c.consensus_hash, c.n_compared, c.agreement, c.confidence, c.further)

--- I4 versions are numbered and the last is the last
SELECT task_id FROM result GROUP BY project_id, task_id
HAVING max(version) <> count(*) OR max(version) FILTER (WHERE last_version) < max(version)

--- I5 an event for each version in a published project, none in a draft; results that an import has made have none
SELECT x.task_id, x.version, e.kind FROM result x JOIN project_ledger USING (project_id)
  LEFT JOIN event e ON e.project_id = x.project_id AND e.result_id = x.id AND e.kind <> 'result_compared'
 WHERE (e.kind IS NOT NULL OR NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = x.project_id AND r.id = ANY (x.task_run_ids) AND r.origin IS NOT NULL))
   AND CASE WHEN trial THEN e.kind IS NOT NULL
            ELSE e.kind IS DISTINCT FROM CASE version WHEN 1 THEN 'task_completed' ELSE 'result_updated' END END

--- I5 one event for a result, and none for another task
SELECT e.result_id FROM event e JOIN task_ledger USING (project_id, task_id)
  LEFT JOIN result x ON x.project_id = e.project_id AND x.id = e.result_id AND x.task_id = e.task_id
 GROUP BY e.project_id, e.result_id, e.kind = 'result_compared' HAVING count(*) > 1 OR count(x.id) = 0

--- I1 a retired task has its reason, and nobody holds it unless it is a gold task
SELECT l.task_id, l.retired, l.leases, x.reason FROM task_ledger l LEFT JOIN retirement x USING (project_id, task_id)
 WHERE l.retired <> (x.task_id IS NOT NULL) OR l.retired AND l.leases > 0 AND l.mode <> 'gold'

--- gold tasks have their rows, densely numbered, and say what their answers were
SELECT l.project_id, l.task_id, l.mode, g.number FROM task_ledger l FULL JOIN gold_task g USING (project_id, task_id) JOIN project_ledger p USING (project_id)
 WHERE (l.mode = 'gold') <> (g.task_id IS NOT NULL) OR g.number > p.n_gold
    OR l.mode = 'gold' AND (SELECT reason FROM retirement x WHERE (x.project_id, x.task_id) = (l.project_id, l.task_id)) <> 'gold'
    OR (g.n_seen, g.n_right) <> (SELECT count(*), count(*) FILTER (WHERE is_right) FROM task_run r
                                  WHERE (r.project_id, r.task_id) = (g.project_id, g.task_id) AND taught IS NOT NULL)

--- a project knows how many gold tasks it has
SELECT p.project_id FROM project_ledger p JOIN project x ON x.id = p.project_id
 WHERE n_gold <> (SELECT count(*) FROM gold_task g WHERE g.project_id = p.project_id) OR has_gold <> (n_gold > 0)

--- I6 no uncounted answer that could count while a place is free
SELECT r.task_id, l.n_answers, l.answers, l.leases, r.id FROM task_ledger l JOIN project_ledger p USING (project_id) JOIN task_run r USING (project_id, task_id)
 WHERE NOT r.counted AND r.aside IS NULL AND NOT r.unreliable AND NOT l.retired AND l.answers + CASE l.mode WHEN 'unlimited' THEN 0 ELSE l.leases END < l.n_answers
   AND (r.user_ip IS NULL OR p.counted_per_network = 0 OR p.counted_per_network
        > (SELECT count(*) FROM task_run x WHERE (x.project_id, x.task_id, x.user_ip) = (r.project_id, r.task_id, r.user_ip) AND x.counted)
        + (SELECT count(*) FROM lease x WHERE (x.project_id, x.task_id, x.network) = (r.project_id, r.task_id, r.user_ip) AND x.actor ~ '^[ci]:'))

--- I8 no network has more than its share of a task
SELECT h.task_id, h.network, count(*) FROM (
    SELECT project_id, task_id, user_ip AS network FROM task_run WHERE counted AND actor ~ '^[ci]:' UNION ALL
    SELECT project_id, task_id, network FROM lease WHERE actor ~ '^[ci]:' AND network <> '') h JOIN project_ledger p USING (project_id)
 WHERE p.counted_per_network > 0 GROUP BY h.project_id, h.task_id, h.network, p.counted_per_network HAVING count(*) > greatest(p.counted_per_network, %(share)s)

--- what is set aside does not count
SELECT id FROM task_run WHERE aside IS NOT NULL AND counted

--- an answer that is set aside alone has its reason, and others have none
SELECT r.id FROM task_run r FULL JOIN aside_answer a ON (a.project_id, a.run) = (r.project_id, r.id) WHERE (a.run IS NOT NULL) <> (r.aside IS NOT DISTINCT FROM -1)

--- I9 with adaptive redundancy an open task wants its first answers and then one at a time, a done one what it has
SELECT l.task_id, l.done, l.answers, l.leases, l.n_answers, l.max_answers, m.min_answers FROM task_ledger l LEFT JOIN trust_model m USING (project_id)
 WHERE max_answers IS NOT NULL AND NOT retired AND n_answers <> CASE WHEN done THEN answers WHEN m.confidence IS NULL THEN max_answers
       ELSE least(max_answers, greatest(m.min_answers, least_answers, answers + CASE mode WHEN 'unlimited' THEN 1 ELSE greatest(leases, 1) END)) END

--- answers have the class of their value
SELECT r.id, r.class, r.info FROM task_run r JOIN trust_model m USING (project_id)
 WHERE r.class IS DISTINCT FROM choice_position(m.choices, r.info #> m.path) AND NOT EXISTS (SELECT FROM agreement_due d WHERE d.project_id = r.project_id)

--- a result of classes is the most probable one, by what was known of each answer
SELECT x.task_id, x.class, x.confidence, x.reason, w.* FROM result x JOIN trust_model m USING (project_id)
 CROSS JOIN LATERAL (SELECT array_agg(class ORDER BY id) AS classes FROM task_run r WHERE (r.project_id, r.task_id) = (x.project_id, x.task_id) AND r.class IS NOT NULL
                        AND r.id = ANY (x.task_run_ids)) c
 CROSS JOIN LATERAL (
    SELECT max(p) AS confidence, array_agg(p ORDER BY j) AS posterior, bool_or(abs(p - coalesce(x.posterior[j], -1)) > 1e-5) AS other
      FROM (SELECT j, exp(lp - ln(sum(exp(lp)) OVER ())) AS p
              FROM (SELECT j, x.log_likelihoods[j] + coalesce((SELECT sum(CASE WHEN m.confused THEN x.log_likelihoods[nth * m.k + j] WHEN class = j THEN x.log_likelihoods[m.k + nth] END::float8)
                                                                 FROM unnest(c.classes) WITH ORDINALITY u (class, nth)), 0) AS lp FROM generate_series(1, m.k) j) s) n) w
 WHERE x.last_version AND x.generation = m.generation AND m.fixed AND (x.reason <> 'none' OR c.classes IS NOT NULL)
   AND (w.other OR abs(w.confidence - x.confidence) > 1e-5 OR x.posterior[x.class] < w.confidence - 1e-5
        OR cardinality(x.log_likelihoods) IS DISTINCT FROM m.k + cardinality(c.classes) * CASE WHEN m.confused THEN m.k ELSE 1 END)

--- I10 what was taught, folded or not, is what the last results say
SELECT * FROM (
    SELECT project_id, what, key, sum(n) AS n FROM (
        SELECT project_id, v.what, v.key, v.n FROM trust_model m, LATERAL (
            VALUES ('tasks', '', m.tasks::float8), ('saved', '', m.saved), ('sure', '', m.sure), ('full', '', m."full"), ('none', '', m."none"),
                   ('peer_right', '', m.peer_right), ('peer_seen', '', m.peer_seen)
            UNION ALL SELECT 'class', j::text, n FROM unnest(m.class_sums) WITH ORDINALITY c (n, j)
            UNION ALL SELECT 'confusion', j::text, n FROM unnest(m.confusion_sums) WITH ORDINALITY c (n, j)) v (what, key, n) UNION ALL
        SELECT project_id, v.what, actor, v.n FROM reliability r JOIN trust_model m USING (project_id, generation),
               LATERAL (VALUES ('seen', r.peer_seen), ('right', r.peer_right)) v (what, n) WHERE halved = 0 UNION ALL
        SELECT e.project_id, v.what, v.key, e.sign * v.n FROM (
                SELECT project_id, generation, sign, actors, classes, posterior, reason, saved, 'evidence' AS origin FROM evidence WHERE NOT gold UNION ALL
                SELECT x.project_id, x.generation, -1, (SELECT array_agg(actor ORDER BY id) FROM task_run r WHERE r.project_id = x.project_id AND r.id = ANY (x.task_run_ids) AND r.class IS NOT NULL),
                       (SELECT array_agg(class ORDER BY id) FROM task_run r WHERE r.project_id = x.project_id AND r.id = ANY (x.task_run_ids) AND r.class IS NOT NULL),
                       x.posterior, x.reason, x.saved, 'result' FROM result x WHERE x.last_version AND x.generation IS NOT NULL) e
          JOIN trust_model m USING (project_id, generation), LATERAL (
            SELECT 'tasks', '', 1 WHERE e.posterior IS NOT NULL UNION ALL SELECT 'saved', '', e.saved UNION ALL SELECT e.reason, '', 1 WHERE e.reason IN ('sure', 'full', 'none') UNION ALL
            SELECT 'class', j::text, round(p::float8 * 1048576) / 1048576 FROM unnest(e.posterior) WITH ORDINALITY c (p, j) UNION ALL
            SELECT 'confusion', ((c - 1) * m.k + j)::text, round(p::float8 * 1048576) / 1048576 FROM unnest(e.classes) c, unnest(e.posterior) WITH ORDINALITY d (p, j) WHERE m.confused UNION ALL
            SELECT 'peer_right', '', round(e.posterior[c]::float8 * 1048576) / 1048576 FROM unnest(e.classes) c UNION ALL SELECT 'peer_seen', '', 1 FROM unnest(e.classes) UNION ALL
            SELECT 'right', actor, round(e.posterior[c]::float8 * 1048576) / 1048576 FROM unnest(e.actors, e.classes) u (actor, c)
             WHERE NOT EXISTS (SELECT FROM reliability r WHERE (r.project_id, r.actor, r.generation) = (e.project_id, u.actor, e.generation) AND r.halved > 0) UNION ALL
            SELECT 'seen', actor, 1 FROM unnest(e.actors) u (actor)
             WHERE NOT EXISTS (SELECT FROM reliability r WHERE (r.project_id, r.actor, r.generation) = (e.project_id, u.actor, e.generation) AND r.halved > 0)) v (what, key, n)) n
     GROUP BY 1, 2, 3) s WHERE n <> 0

--- only the last result of a task teaches
SELECT task_id, version FROM result JOIN trust_model USING (project_id, generation) WHERE NOT last_version

--- bars are known
SELECT project_id FROM project_ledger p WHERE has_bars <> EXISTS (SELECT FROM barred_volunteer b WHERE b.project_id = p.project_id)

--- leases beyond the two oldest of a volunteer are marked
SELECT l.task_id, l.actor FROM lease l
 WHERE soft < 2 AND (SELECT count(*) FROM lease o WHERE o.project_id = l.project_id AND o.actor = l.actor AND o.id < l.id) >= 2

--- I7 nobody has passed an open task that they could take
-- First the scans that somebody is on, then the open tasks behind them there, and only of those whether they are theirs to take:
-- materialized in these steps, or PostgreSQL looks at every volunteer and task one by one. A volunteer for whom the rule about
-- networks holds has positions for each network; of each network that has a floor one looks who was never there.
WITH open_task AS MATERIALIZED (
    SELECT t.project_id, t.task_id, t.rank, t.requeued_xid, t.level, t.mode, o.ord,
           CASE o.ord WHEN 'priority' THEN t.rank WHEN 'priority-up' THEN t.priority_0 ELSE 0 END AS key,
           CASE o.ord WHEN 'id-down' THEN -t.task_id ELSE t.task_id END AS place
      FROM task_ledger t JOIN project_ledger p ON p.project_id = t.project_id AND p.sched <> 'changing'
     CROSS JOIN LATERAL unnest(CASE t.mode WHEN 'by_level' THEN ARRAY['level/' || t.level] ELSE ARRAY['priority', 'priority-up', 'id', 'id-down'] END) AS o (ord)
     WHERE t.open),
scan AS MATERIALIZED (SELECT DISTINCT project_id, ord, ord || '/' || epoch AS name FROM open_task JOIN project_ledger USING (project_id)),
volunteer AS MATERIALIZED (
    SELECT DISTINCT project_id, CASE WHEN actor LIKE 'n:%%' THEN '' ELSE actor END AS actor,
           CASE WHEN actor LIKE 'n:%%' THEN substr(actor, 3) ELSE substring(scan FROM '@(.*)') END AS network FROM position
    UNION SELECT project_id, '', NULL FROM project_ledger),
standing AS MATERIALIZED (
    SELECT v.project_id, v.actor, v.network, n.ord, own.k1 AS own1, own.k2 AS own2, flo.k1 AS floor1, flo.k2 AS floor2,
           ret.k1 AS ret1, ret.k2 AS ret2, fre.k1 AS fret1, fre.k2 AS fret2, net.k1 AS net1, net.k2 AS net2, nre.k1 AS nret1, nre.k2 AS nret2
      FROM volunteer v JOIN scan n USING (project_id)
      LEFT JOIN position own ON (own.project_id, own.actor, own.scan) = (v.project_id, v.actor, n.name || coalesce('@' || v.network, '')) AND v.actor <> ''
      LEFT JOIN position flo ON (flo.project_id, flo.actor, flo.scan) = (v.project_id, '', n.name)
      LEFT JOIN position ret ON (ret.project_id, ret.actor, ret.scan) = (v.project_id, v.actor, 'returns:' || n.name || coalesce('@' || v.network, '')) AND v.actor <> ''
      LEFT JOIN position fre ON (fre.project_id, fre.actor, fre.scan) = (v.project_id, '', 'returns:' || n.name)
      LEFT JOIN position net ON (net.project_id, net.actor, net.scan) = (v.project_id, 'n:' || v.network, n.name)
      LEFT JOIN position nre ON (nre.project_id, nre.actor, nre.scan) = (v.project_id, 'n:' || v.network, 'returns:' || n.name)
     WHERE own.k1 IS NOT NULL OR flo.k1 IS NOT NULL OR net.k1 IS NOT NULL),
passed AS MATERIALIZED (
    SELECT s.*, t.task_id, t.rank, t.requeued_xid, t.level, t.mode, t.key, t.place
      FROM standing s JOIN open_task t USING (project_id, ord)
     WHERE CASE t.mode
           WHEN 'by_level' THEN (t.requeued_xid, t.task_id) <= (own1, own2) OR (t.requeued_xid, t.task_id) <= (floor1, floor2) OR (t.requeued_xid, t.task_id) <= (net1, net2)
           ELSE ((t.key, t.place) <= (own1, own2)
                 OR ((t.key, t.place) <= (floor1, floor2) OR (t.key, t.place) <= (net1, net2))
                    AND (ret1 IS NULL OR coalesce((ret1, ret2) <= (fret1, fret2), false) OR coalesce((ret1, ret2) <= (nret1, nret2), false)))
                AND (t.requeued_xid IS NULL OR (t.requeued_xid, t.task_id) <= (ret1, ret2) OR (t.requeued_xid, t.task_id) <= (fret1, fret2)
                     OR (t.requeued_xid, t.task_id) <= (nret1, nret2)) END)
SELECT v.* FROM passed v JOIN project_ledger p USING (project_id)
 WHERE NOT EXISTS (SELECT FROM task_run x WHERE (x.project_id, x.task_id, x.actor) = (v.project_id, v.task_id, v.actor))
   AND NOT EXISTS (SELECT FROM same_person s JOIN task_run x ON x.actor = s.other AND (x.project_id, x.task_id) = (v.project_id, v.task_id)
                    WHERE s.actor = v.actor AND s.project_id IN (0, v.project_id))
   AND NOT EXISTS (SELECT FROM lease x WHERE (x.project_id, x.task_id, x.actor) = (v.project_id, v.task_id, v.actor))
   AND NOT EXISTS (SELECT FROM expired_lease x WHERE (x.project_id, x.task_id, x.actor) = (v.project_id, v.task_id, v.actor) AND skipped)
   AND (v.network IS NULL OR p.counted_per_network = 0 OR p.counted_per_network
        > (SELECT count(*) FROM task_run x WHERE (x.project_id, x.task_id, x.user_ip) = (v.project_id, v.task_id, v.network)
              AND (x.counted OR v.mode = 'unlimited' AND x.aside IS NULL))
        + (SELECT count(*) FROM lease x WHERE (x.project_id, x.task_id, x.network) = (v.project_id, v.task_id, v.network) AND x.actor ~ '^[ci]:'))

--- I11 of two linked volunteers' answers to a task at most one counts
SELECT a.task_id, s.actor, s.other FROM same_person s JOIN task_run a ON a.actor = s.actor AND a.counted
  JOIN task_run b ON (b.project_id, b.task_id, b.actor) = (a.project_id, a.task_id, s.other) AND b.counted
 WHERE s.project_id IN (0, a.project_id) AND s.actor < s.other AND s.due IS NULL

--- I11 links have two rows
SELECT actor, project_id, other FROM same_person EXCEPT SELECT other, project_id, actor FROM same_person

--- figures of projects
SELECT f.* FROM project_figures f,
       LATERAL (SELECT count(*) FILTER (WHERE mode <> 'gold') AS tasks, coalesce(sum(CASE WHEN retired THEN answers ELSE n_answers END), 0) AS wanted, coalesce(sum(answers), 0) AS counted,
                       count(*) FILTER (WHERE (done OR retired) AND mode <> 'gold') AS done FROM task_ledger l WHERE l.project_id = f.project_id) l,
       LATERAL (SELECT count(*) FILTER (WHERE actor LIKE 'u:%%') AS known, count(*) FILTER (WHERE actor NOT LIKE 'u:%%') AS unknown,
                       count(DISTINCT actor) FILTER (WHERE actor LIKE 'u:%%') AS people,
                       count(DISTINCT actor) FILTER (WHERE actor NOT LIKE 'u:%%') AS strangers,
                       coalesce(sum(time_spent(created, finish_time, timeout)), 0)::float8 AS seconds
                  FROM task_run r WHERE r.project_id = f.project_id) r
 WHERE (n_tasks, n_wanted, n_counted, n_completed_tasks, runs_authenticated, runs_anonymous, people_authenticated, people_anonymous)
    <> (l.tasks, l.wanted, l.counted, l.done, r.known, r.unknown, r.people, r.strangers) OR abs(f.seconds - r.seconds) > 0.001

--- answers of each volunteer
SELECT project_id, actor, k.n, runs_of(project_id, actor) FROM (
    SELECT project_id, actor, count(r.id) AS n
      FROM (SELECT project_id, actor FROM task_run UNION SELECT project_id, actor FROM volunteer) v
      LEFT JOIN task_run r USING (project_id, actor) GROUP BY 1, 2) k
 WHERE k.n <> runs_of(project_id, actor) AND project_id IN (SELECT project_id FROM project_ledger)

--- scores of people
SELECT * FROM (SELECT user_id, count(*) AS n FROM task_run r WHERE NOT trial AND user_id IS NOT NULL
                 AND NOT EXISTS (SELECT FROM project p WHERE p.id = r.project_id AND r.user_id = ANY (p.owners_ids)) GROUP BY 1) k
  FULL JOIN score USING (user_id) WHERE coalesce(n, 0) <> coalesce(runs, 0)

--- answers of each hour
SELECT * FROM (
    SELECT project_id, date_trunc('hour', finish_time) AS hour, count(*) FILTER (WHERE actor LIKE 'u:%%') AS known,
           count(*) FILTER (WHERE actor NOT LIKE 'u:%%') AS unknown FROM task_run GROUP BY 1, 2) k
  FULL JOIN (
    SELECT project_id, hour, sum(known) AS known, sum(unknown) AS unknown FROM (
        SELECT project_id, hour, runs_authenticated AS known, runs_anonymous AS unknown FROM project_hour UNION ALL
        SELECT project_id, hour, CASE WHEN actor LIKE 'u:%%' THEN runs ELSE 0 END,
               CASE WHEN actor NOT LIKE 'u:%%' THEN runs ELSE 0 END FROM stat_delta WHERE project_id <> 0) d GROUP BY 1, 2) h USING (project_id, hour)
 WHERE (coalesce(k.known, 0), coalesce(k.unknown, 0)) <> (coalesce(h.known, 0), coalesce(h.unknown, 0))
   AND project_id IN (SELECT project_id FROM project_ledger)

--- completed tasks of all hours
SELECT project_id, sum(completed) FROM (
    SELECT project_id, completed FROM project_hour UNION ALL SELECT project_id, completed FROM stat_delta UNION ALL
    SELECT project_id, -(done OR retired)::int FROM task_ledger WHERE mode <> 'gold') d JOIN project_ledger USING (project_id) GROUP BY 1 HAVING sum(completed) <> 0

--- counters of what results say together
WITH said AS MATERIALIZED (
    SELECT project_id, 1 AS field, consensus_hash AS hash, n_compared AS n, agreement::float8 AS agreement FROM result WHERE last_version UNION ALL
    SELECT project_id, nth + 1, (e->>'hash')::bigint, (e->>'answers')::int, (e->>'agreement')::real
      FROM result, jsonb_array_elements(further) WITH ORDINALITY x (e, nth) WHERE last_version)
SELECT * FROM (
    SELECT l.project_id, o.field, o.kind, o.hash, o.tasks, o.answers, o.several, o.agreement / 1e9 AS agreement, o.half, o.most, o.unanimous
      FROM project_ledger l, outcomes_of(l.project_id) o) s
  FULL JOIN (
    SELECT project_id, field, kind, CASE kind WHEN 'value' THEN hash ELSE 0 END AS hash, count(*) AS tasks, coalesce(sum(n), 0) AS answers, count(*) FILTER (WHERE n > 1 AND agreement IS NOT NULL) AS several,
           coalesce(sum(agreement) FILTER (WHERE n > 1), 0) AS agreement, count(*) FILTER (WHERE n > 1 AND agreement >= 0.5) AS half,
           count(*) FILTER (WHERE n > 1 AND agreement >= 0.75) AS most, count(*) FILTER (WHERE n > 1 AND agreement = 1) AS unanimous
      FROM (SELECT r.*, CASE WHEN r.n IS NULL THEN 'pending' WHEN r.n = 0 THEN 'none' WHEN r.hash IS NULL THEN 'tied' WHEN c.hash IS NULL
                                  AND EXISTS (SELECT FROM outcome_count o WHERE (o.project_id, o.field) = (r.project_id, r.field) AND o.kind = 'other') THEN 'other' ELSE 'value' END AS kind
              FROM said r JOIN project_ledger USING (project_id)
              LEFT JOIN outcome_count c ON (c.project_id, c.field, c.hash) = (r.project_id, r.field, r.hash) AND c.kind = 'value') r
     GROUP BY 1, 2, 3, 4) c USING (project_id, field, kind, hash)
 WHERE (coalesce(s.tasks, 0), coalesce(s.answers, 0), coalesce(s.several, 0), coalesce(s.half, 0), coalesce(s.most, 0), coalesce(s.unanimous, 0))
    <> (coalesce(c.tasks, 0), coalesce(c.answers, 0), coalesce(c.several, 0), coalesce(c.half, 0), coalesce(c.most, 0), coalesce(c.unanimous, 0))
    OR abs(coalesce(s.agreement, 0)::float8 - coalesce(c.agreement, 0)) > 0.0001
