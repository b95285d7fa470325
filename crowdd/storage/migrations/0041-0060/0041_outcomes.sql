-- Counters of what the last results of a project say: for each value that won how many tasks, and how far people agreed. They
-- are appended to stat_delta and folded like other counters (definitions 51).

ALTER TABLE stat_delta
    ADD outcomes int,                                           -- last results more or fewer; null: none changed
    ADD consensus_hash bigint,                                  -- what they say together, as in result
    ADD n_compared int,
    ADD agreement real;

-- Folded. A project has rows for at most max_outcomes() values. All others are counted together as 'other' from the first
-- that finds no place on; while that row exists, no value gets a row of its own until choose_outcomes() chooses anew.
CREATE TABLE outcome_count (
    project_id bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('value', 'other', 'tied', 'pending')),
    hash bigint NOT NULL,                                       -- result.consensus_hash of a value, 0 for other kinds
    tasks bigint NOT NULL,
    answers bigint NOT NULL,                                    -- that were compared
    several bigint NOT NULL,                                    -- tasks with two answers or more; the columns below are about them
    agreement bigint NOT NULL,                                  -- sum, in billionths
    half bigint NOT NULL,                                       -- with an agreement of 0.5 or more
    most bigint NOT NULL,                                       -- 0.75 or more
    unanimous bigint NOT NULL,
    due_at bigint NOT NULL DEFAULT 1000,                        -- of 'other': with so many tasks the values are chosen anew
    PRIMARY KEY (project_id, kind, hash)
) WITH (fillfactor = 50);
CREATE INDEX outcome_count_other ON outcome_count (project_id) WHERE kind = 'other';

INSERT INTO outcome_count (project_id, kind, hash, tasks, answers, several, agreement, half, most, unanimous)
SELECT project_id, kind, hash, sum(tasks), sum(answers), sum(several), sum(agreement), sum(half), sum(most), sum(unanimous) FROM (
    SELECT project_id, CASE WHEN kind = 'value' AND nth > 1000 THEN 'other' ELSE kind END AS kind, CASE WHEN kind = 'value' AND nth <= 1000 THEN hash ELSE 0 END AS hash,
           tasks, answers, several, agreement, half, most, unanimous
      FROM (SELECT *, row_number() OVER (PARTITION BY project_id, kind ORDER BY tasks DESC, hash) AS nth
              FROM (SELECT project_id, CASE WHEN agreement IS NULL THEN 'pending' WHEN consensus_hash IS NULL THEN 'tied' ELSE 'value' END AS kind,
                           coalesce(consensus_hash, 0) AS hash, count(*) AS tasks, coalesce(sum(n_compared), 0) AS answers,
                           count(*) FILTER (WHERE n_compared > 1) AS several,
                           coalesce(sum(round(agreement::float8 * 1e9)::bigint) FILTER (WHERE n_compared > 1), 0) AS agreement,
                           count(*) FILTER (WHERE n_compared > 1 AND agreement >= 0.5) AS half,
                           count(*) FILTER (WHERE n_compared > 1 AND agreement >= 0.75) AS most,
                           count(*) FILTER (WHERE n_compared > 1 AND agreement = 1) AS unanimous
                      FROM result WHERE last_version GROUP BY 1, 2, 3) v) n) k
 GROUP BY 1, 2, 3;
UPDATE outcome_count SET due_at = 2 * tasks + 1000 WHERE kind = 'other';

-- Results that stop being the last, are compared again or go. New ones are appended by the function that completes a task,
-- within the row that it appends anyway.
CREATE FUNCTION count_outcome() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, outcomes, consensus_hash, n_compared, agreement)
    SELECT OLD.project_id, date_trunc('hour', OLD.created), -1, OLD.consensus_hash, OLD.n_compared, OLD.agreement WHERE OLD.last_version UNION ALL
    SELECT NEW.project_id, date_trunc('hour', NEW.created), 1, NEW.consensus_hash, NEW.n_compared, NEW.agreement WHERE NEW.last_version;
    RETURN NULL;
END $$;
CREATE TRIGGER outcome_changes AFTER UPDATE ON result FOR EACH ROW
  WHEN (OLD.last_version <> NEW.last_version OR NEW.last_version
        AND (OLD.consensus_hash, OLD.n_compared, OLD.agreement) IS DISTINCT FROM (NEW.consensus_hash, NEW.n_compared, NEW.agreement))
  EXECUTE FUNCTION count_outcome();

CREATE FUNCTION count_outcomes_gone() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO stat_delta (project_id, hour, outcomes, consensus_hash, n_compared, agreement)
    SELECT project_id, date_trunc('hour', max(created)), -count(*), consensus_hash, n_compared, agreement
      FROM gone WHERE last_version GROUP BY project_id, consensus_hash, n_compared, agreement;
    RETURN NULL;
END $$;
CREATE TRIGGER outcomes_go AFTER DELETE ON result REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_outcomes_gone();
