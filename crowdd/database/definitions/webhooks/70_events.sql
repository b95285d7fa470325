-- Numbers of events. The id of an event is drawn before its transaction commits, so readers that follow ids miss
-- events. seq is assigned afterwards without gaps: once a reader has seen a number, all events up to it are final.

-- Published projects in which every task is done, according to the counters.
CREATE VIEW complete_project AS
SELECT project_id FROM project_figures f JOIN project_ledger l USING (project_id)
 WHERE NOT l.trial AND f.n_tasks > 0 AND f.n_completed_tasks >= f.n_tasks;

-- Whether a project is one of them. STABLE: uses the snapshot of the calling statement.
CREATE FUNCTION project_complete(p_project bigint) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT EXISTS (SELECT FROM complete_project WHERE project_id = p_project) $$;

-- Assigns numbers to the committed events of a project. Events of a task keep the order in which they happened, because
-- their ids are drawn under the lock of the ledger row. Adds project_completed if one of them completed the last task, and a notice when the
-- project is finished or has open tasks again.
-- Returns how many there were.
CREATE FUNCTION number_events(p_project bigint, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE s event_sequence; ids bigint[]; completing boolean; whole boolean; k int;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('events', p_project));
    INSERT INTO event_sequence (project_id) VALUES (p_project) ON CONFLICT DO NOTHING;
    SELECT * INTO s FROM event_sequence WHERE project_id = p_project;
    -- One statement, so that the events and whether the project is complete are read in one snapshot.
    SELECT array_agg(id ORDER BY id), coalesce(bool_or(kind IN ('task_completed', 'result_updated')), false), project_complete(p_project)
      INTO ids, completing, whole FROM event WHERE project_id = p_project AND seq IS NULL;
    k := coalesce(cardinality(ids), 0);
    IF k = 0 AND whole = s.complete THEN RETURN 0; END IF;
    UPDATE event SET seq = s.last_seq + u.o FROM unnest(ids) WITH ORDINALITY u(id, o) WHERE project_id = p_project AND event.id = u.id;
    IF whole AND (completing OR NOT s.complete) THEN
        k := k + 1;
        INSERT INTO event (project_id, seq, kind, at) VALUES (p_project, s.last_seq + k, 'project_completed', p_now);
    END IF;
    UPDATE event_sequence SET last_seq = s.last_seq + k, complete = whole WHERE project_id = p_project;
    IF whole <> s.complete THEN PERFORM add_notice(p_project, CASE WHEN whole THEN 'finished' ELSE 'resumed' END, p_now); END IF;
    RETURN k;
END $$;
