-- Numbers of events. An event's id is drawn before its transaction commits, so ids are passed by readers that follow them;
-- seq is given afterwards, without gaps, and what a reader has seen up to a number is all there will ever be.

-- Published projects of which every task is done, by the counters.
CREATE VIEW complete_project AS
SELECT project_id FROM project_figures f JOIN project_ledger l USING (project_id)
 WHERE NOT l.trial AND f.n_tasks > 0 AND f.n_completed_tasks >= f.n_tasks;

-- Whether a project is one of them. STABLE: as the calling statement sees it.
CREATE FUNCTION project_complete(p_project bigint) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT EXISTS (SELECT FROM complete_project WHERE project_id = p_project) $$;

-- Numbers what a project's committed transactions left, events of a task in the order in which they happened (their ids
-- are drawn under the ledger row lock), and adds project_completed when that was the last task. Returns how many there
-- were.
CREATE FUNCTION number_events(p_project bigint, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE s event_sequence; ids bigint[]; completing boolean; whole boolean; k int;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('events', p_project));
    INSERT INTO event_sequence (project_id) VALUES (p_project) ON CONFLICT DO NOTHING;
    SELECT * INTO s FROM event_sequence WHERE project_id = p_project;
    -- One statement: whether the project is complete must be known as of the same moment as the events.
    SELECT array_agg(id ORDER BY id), coalesce(bool_or(result_id IS NOT NULL), false), project_complete(p_project)
      INTO ids, completing, whole FROM event WHERE project_id = p_project AND seq IS NULL;
    k := coalesce(cardinality(ids), 0);
    IF k = 0 AND whole = s.complete THEN RETURN 0; END IF;
    UPDATE event SET seq = s.last_seq + u.o FROM unnest(ids) WITH ORDINALITY u(id, o) WHERE project_id = p_project AND event.id = u.id;
    IF whole AND (completing OR NOT s.complete) THEN
        k := k + 1;
        INSERT INTO event (project_id, seq, kind, at) VALUES (p_project, s.last_seq + k, 'project_completed', p_now);
    END IF;
    UPDATE event_sequence SET last_seq = s.last_seq + k, complete = whole WHERE project_id = p_project;
    RETURN k;
END $$;
