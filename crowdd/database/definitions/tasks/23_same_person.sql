-- One person, one answer: what a browser, an account and an external user have answered counts as answered for each of them.
--
-- same_person links two actors that one browser has proved: the volunteer's cookie with the account of a session, an external user with
-- either. In a project a person is a volunteer and those linked with it. That is not transitive: two accounts on a shared
-- browser are both linked with its cookie, and not with each other. Volunteers who are known by their network only (i:) have no links.
--
-- Two linked actors never get two answers to a task by submit, which looks for links under the task's ledger row. Where both had
-- answered it before they were linked, the earlier answer stays, and the later one is set aside for good (aside 0). A job does that.

-- How many links of an actor count. A job removes what is beyond, the oldest first.
CREATE FUNCTION max_links() RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT 100 $$;

-- The actors of a person in a project: the volunteer and, behind it, those linked with it.
CREATE FUNCTION actors_of(p_project bigint, p_actor text) RETURNS text[] STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF p_actor LIKE 'i:%' THEN RETURN ARRAY[p_actor]; END IF;
    RETURN p_actor || ARRAY(SELECT other FROM same_person WHERE actor = p_actor AND project_id IN (0, p_project) LIMIT max_links());
END $$;

-- The same of a volunteer whose request proves another actor, too (p_also, or null), which it is linked with from now on.
CREATE FUNCTION proven_actors(p_project bigint, p_actor text, p_also text, p_now timestamptz) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE a text[] := actors_of(p_project, p_actor);
BEGIN
    IF p_also IS NULL OR p_also = ANY (a) THEN RETURN a; END IF;
    PERFORM link_actors(p_actor, p_also, p_project, p_now);
    RETURN a || p_also;
END $$;

-- The lock of what an actor is linked with. Who passes tasks because a linked actor has answered them shares it, until their position is there
-- for everybody; who removes a link has it alone, and so finds every position that follows the link.
CREATE FUNCTION person_key(p_actor text) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$ SELECT hashtextextended('person/' || p_actor, 0) $$;

-- The actors of a volunteer who is about to pass what they have answered, as proven_actors. Their links stay until the transaction ends. Not
-- p_also where another transaction is linking it, which may yet be undone. Null: one of the links is being removed.
CREATE FUNCTION passing_actors(p_project bigint, p_actor text, p_also text, p_now timestamptz) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE a text[] := proven_actors(p_project, p_actor, p_also, p_now);
BEGIN
    IF cardinality(a) = 1 THEN RETURN a; END IF;
    IF NOT pg_try_advisory_xact_lock_shared(person_key(p_actor)) THEN RETURN NULL; END IF;
    a := proven_actors(p_project, p_actor, p_also, p_now);
    RETURN CASE WHEN p_also IS NULL OR EXISTS (SELECT FROM same_person WHERE actor = p_actor AND project_id IN (0, p_project) AND other = p_also)
                THEN a ELSE array_remove(a, p_also) END;
END $$;

-- The lock of a link. Who writes or deletes its rows holds it, so that nobody ever waits for one of the rows.
CREATE FUNCTION link_key(p_one text, p_other text, p_project bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$
SELECT hashtextextended('same_person/' || least(p_one, p_other) || '/' || greatest(p_one, p_other), p_project) $$;

-- Links two actors, unless another transaction is at it. p_project: where one of them is an external user.
CREATE FUNCTION link_actors(p_one text, p_other text, p_project bigint, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE p bigint := CASE WHEN p_one LIKE 'x:%' OR p_other LIKE 'x:%' THEN p_project ELSE 0 END;
BEGIN
    IF NOT pg_try_advisory_xact_lock(link_key(p_one, p_other, p)) THEN RETURN; END IF;
    INSERT INTO same_person (actor, project_id, other, created, due)
    VALUES (least(p_one, p_other), p, greatest(p_one, p_other), p_now, '0'), (greatest(p_one, p_other), p, least(p_one, p_other), p_now, NULL)
        ON CONFLICT DO NOTHING;
END $$;

-- Removes a link, unless another transaction is at it, or asks by it. Their positions start again: what only the other one has answered is
-- theirs to answer now (I7). False: it is busy. Waits for nobody.
CREATE FUNCTION unlink_actors(p_one text, p_other text, p_project bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT (pg_try_advisory_xact_lock(link_key(p_one, p_other, p_project)) AND pg_try_advisory_xact_lock(person_key(p_one))
            AND pg_try_advisory_xact_lock(person_key(p_other))) THEN RETURN false; END IF;
    DELETE FROM same_person WHERE project_id = p_project AND (actor, other) IN ((p_one, p_other), (p_other, p_one));
    DELETE FROM position WHERE (project_id, actor, scan) IN (
        SELECT x.project_id, x.actor, x.scan FROM position x JOIN project_ledger l ON l.project_id = x.project_id
         WHERE x.actor IN (p_one, p_other) AND p_project IN (0, x.project_id) FOR UPDATE OF x SKIP LOCKED);
    RETURN true;
END $$;

-- Removes what links an actor. It waits for those who are at one of the links or ask by it, before it locks any row.
CREATE FUNCTION unlink_all(p_actor text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(k) FROM (
        SELECT DISTINCT k FROM same_person, LATERAL (VALUES (link_key(actor, other, project_id)), (person_key(actor)), (person_key(other))) v (k)
         WHERE actor = p_actor ORDER BY 1 OFFSET 0) l;
    PERFORM unlink_actors(p_actor, other, project_id) FROM (SELECT * FROM same_person WHERE actor = p_actor ORDER BY other) l;
END $$;

-- Removes at most p_maximum links: those beyond max_links, and those made before a moment whose cookie, which has ended since, has no
-- answers. Returns how many.
CREATE FUNCTION sweep_links(p_before timestamptz, p_maximum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; n int := 0;
BEGIN
    FOR r IN SELECT DISTINCT least(actor, other) AS one, greatest(actor, other) AS other, project_id FROM (
                 SELECT *, row_number() OVER (PARTITION BY actor ORDER BY created DESC, other) AS nth FROM same_person) l
              WHERE nth > max_links() OR actor LIKE 'c:%' AND created < p_before
                                         AND NOT EXISTS (SELECT FROM task_run x WHERE x.actor = l.actor AND x.actor LIKE 'c:%')
              LIMIT p_maximum LOOP
        n := n + unlink_actors(r.one, r.other, r.project_id)::int;
    END LOOP;
    RETURN n;
END $$;

-- Links whose answers can be looked for now.
CREATE FUNCTION due_links(p_maximum int) RETURNS TABLE (actor text, other text, project_id bigint, due xid8) STABLE LANGUAGE sql AS $$
SELECT actor, other, project_id, due FROM same_person WHERE due IS NOT NULL AND due <= pg_snapshot_xmin(pg_current_snapshot()) ORDER BY 1 LIMIT p_maximum $$;

-- Notes that the answers of a link have been looked for, which was due then. After the first time they are looked for once more, when
-- every transaction has ended that may not have seen it.
CREATE FUNCTION link_settled(p_one text, p_other text, p_project bigint, p_due xid8) RETURNS void LANGUAGE sql AS $$
UPDATE same_person SET due = CASE WHEN due = '0' THEN pg_snapshot_xmax(pg_current_snapshot()) END
 WHERE (actor, project_id, other) = (p_one, p_project, p_other) AND due = p_due $$;

-- Tasks that both actors of a link have answered, as far as the later answer is not set aside yet. p_one is the lesser of both, so it is no
-- external user, and an index leads to its answers.
CREATE FUNCTION answered_twice(p_one text, p_other text, p_project bigint, p_maximum int) RETURNS TABLE (project_id bigint, task_id bigint) STABLE LANGUAGE plpgsql AS $$
BEGIN
    IF p_one LIKE 'c:%' THEN
        RETURN QUERY SELECT r.project_id, r.task_id FROM task_run r
            JOIN task_run o ON o.project_id = r.project_id AND o.task_id = r.task_id AND o.actor = p_other
           WHERE r.actor = p_one AND r.actor LIKE 'c:%' AND p_project IN (0, r.project_id)
             AND CASE WHEN r.id > o.id THEN r.aside ELSE o.aside END IS DISTINCT FROM 0 ORDER BY 1, 2 LIMIT p_maximum;
    ELSE
        RETURN QUERY SELECT r.project_id, r.task_id FROM task_run r
            JOIN task_run o ON o.project_id = r.project_id AND o.task_id = r.task_id AND o.actor = p_other
           WHERE r.user_id = substr(p_one, 3)::bigint AND r.actor = p_one AND p_project IN (0, r.project_id)
             AND CASE WHEN r.id > o.id THEN r.aside ELSE o.aside END IS DISTINCT FROM 0 ORDER BY 1, 2 LIMIT p_maximum;
    END IF;
END $$;

-- Sets the later of two answers aside for good in tasks that two linked actors have answered. Returns in how many.
CREATE FUNCTION keep_earlier(p_project bigint, p_tasks bigint[], p_one text, p_other text, p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE t task_ledger; runs bigint[]; n int := 0;
BEGIN
    FOR t IN SELECT * FROM task_ledger WHERE project_id = p_project AND task_id = ANY (p_tasks) ORDER BY task_id FOR UPDATE LOOP
        runs := ARRAY(SELECT id FROM task_run WHERE project_id = p_project AND task_id = t.task_id AND actor IN (p_one, p_other) ORDER BY id);
        CONTINUE WHEN cardinality(runs) < 2;
        PERFORM put_aside(t, runs[2:], 0, p_now);
        n := n + 1;
    END LOOP;
    RETURN n;
END $$;

-- How many tasks of a project a person has answered. Of two linked actors that is exact. Answers that two accounts on one browser gave
-- to a task are two for the browser.
CREATE FUNCTION answered_in(p_project bigint, p_actor text) RETURNS bigint STABLE LANGUAGE plpgsql AS $$
DECLARE a text[] := actors_of(p_project, p_actor);
BEGIN
    IF cardinality(a) = 1 THEN RETURN runs_of(p_project, p_actor); END IF;
    RETURN (SELECT sum(runs_of(p_project, u)) FROM unnest(a) u)
         - (SELECT count(*) FROM task_run r WHERE r.actor = ANY (a) AND r.project_id = p_project AND r.aside = 0
               AND EXISTS (SELECT FROM task_run e WHERE e.project_id = r.project_id AND e.task_id = r.task_id AND e.actor = ANY (a) AND e.id < r.id));
END $$;

-- Leases ---------------------------------------------------------------------------------------------------------------------

-- Ends what actors hold of a task, leases and expired ones, without a right to answer later. The caller holds the ledger row.
CREATE FUNCTION drop_leases(p_project bigint, p_task bigint, p_actors text[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
    DELETE FROM expired_lease WHERE project_id = p_project AND task_id = p_task AND actor = ANY (p_actors);
    DELETE FROM lease WHERE project_id = p_project AND task_id = p_task AND actor = ANY (p_actors);
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n = 0 THEN RETURN; END IF;
    UPDATE task_ledger SET leases = leases - n WHERE project_id = p_project AND task_id = p_task;
    PERFORM reconcile_task(p_project, p_task, false, p_now);
END $$;

-- Gives a volunteer, the first of a person's actors, what one of the others holds of a task: a lease if they hold none, else a placeless one
-- (33_gold.sql) if they hold none of these, else an expired lease if they hold none at all. The caller holds the ledger row.
CREATE FUNCTION adopt_lease(p_project bigint, p_task bigint, p_actors text[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE mine text := p_actors[1]; others text[] := p_actors[2:]; whose text;
BEGIN
    IF EXISTS (SELECT FROM lease WHERE project_id = p_project AND task_id = p_task AND actor = mine) THEN RETURN; END IF;
    SELECT actor INTO whose FROM lease WHERE project_id = p_project AND task_id = p_task AND actor = ANY (others) ORDER BY id LIMIT 1;
    IF FOUND THEN
        DELETE FROM expired_lease WHERE project_id = p_project AND task_id = p_task AND actor = mine;
        UPDATE lease SET actor = mine WHERE project_id = p_project AND task_id = p_task AND actor = whose;
        IF whose LIKE 'c:%' THEN PERFORM reconcile_task(p_project, p_task, false, p_now); END IF;           -- their network has a place of its share back
        RETURN;
    END IF;
    SELECT actor INTO whose FROM expired_lease WHERE project_id = p_project AND task_id = p_task AND actor = ANY (p_actors)
     ORDER BY placeless DESC, actor <> mine, expires DESC LIMIT 1;
    IF whose <> mine THEN
        DELETE FROM expired_lease WHERE project_id = p_project AND task_id = p_task AND actor = mine;
        UPDATE expired_lease SET actor = mine WHERE project_id = p_project AND task_id = p_task AND actor = whose;
    END IF;
END $$;
