-- Periodic jobs. A process that runs a job holds its advisory lock on a separate session from begin_job to end_job, so
-- the lock is released if the process dies. Both are single statements, and no transaction is open between them.

CREATE FUNCTION job_lock(p_name text) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$ SELECT hashtextextended('job ' || p_name, 0) $$;

-- No job waits longer than its period, or a minute after a failure. One that is due later than this was planned before the
-- clock was set back (or with a longer period), and is due now.
CREATE FUNCTION latest_due(p_period double precision, p_now timestamptz) RETURNS timestamptz IMMUTABLE LANGUAGE sql AS $$
SELECT p_now + make_interval(secs => greatest(p_period, 60) + 5) $$;

CREATE FUNCTION begin_job(p_name text, p_period double precision, p_early boolean, p_now timestamptz,
    OUT state text, OUT wait double precision, OUT began timestamptz, OUT failures int) LANGUAGE plpgsql AS $$
DECLARE j job; never timestamptz := latest_due(p_period, p_now); k_broken CONSTANT text := 'Its process ended while it ran.';
BEGIN
    -- On a newly created database, jobs wait for a minute.
    INSERT INTO job (name, due) VALUES (p_name, p_now + make_interval(secs => least(p_period, 60))) ON CONFLICT DO NOTHING;
    SELECT * INTO j FROM job WHERE name = p_name;
    -- Usually a check without locks is enough.
    IF j.outcome = 'running' OR j.due <= p_now OR j.due > never OR p_early THEN
        SELECT * INTO j FROM job WHERE name = p_name FOR UPDATE;
    END IF;
    IF j.outcome <> 'running' AND j.due > p_now AND j.due <= never AND NOT p_early THEN
        state := 'early';
        wait := extract(epoch FROM j.due - p_now);
    ELSIF NOT pg_try_advisory_lock(job_lock(p_name)) THEN
        state := 'busy';
        wait := least(p_period, 60);
    ELSIF j.outcome = 'running' THEN
        -- The lock was free, so the session of that run has ended. Do not run the job at once: it may have
        -- killed its process.
        INSERT INTO job_run (name, began, seconds, outcome, words)
        VALUES (p_name, j.began, greatest(0, extract(epoch FROM p_now - j.began)), 'failed', k_broken);
        UPDATE job SET outcome = 'failed', words = k_broken, failures = j.failures + 1, seconds = NULL,
               due = p_now + make_interval(secs => least(p_period, 60))
         WHERE name = p_name;
        PERFORM pg_advisory_unlock(job_lock(p_name));
        state := 'broken';
        wait := least(p_period, 60);
    ELSE
        UPDATE job SET outcome = 'running', began = p_now, runs = runs + 1 WHERE name = p_name;
        state := 'ours';
        began := p_now;
        failures := j.failures;
    END IF;
END $$;

-- The seconds that the run took; null if another one has begun since.
CREATE FUNCTION end_job(p_name text, p_began timestamptz, p_outcome text, p_words text, p_wait double precision, p_logged boolean, p_now timestamptz)
RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE took double precision := greatest(0, extract(epoch FROM p_now - p_began)); ours boolean;
BEGIN
    UPDATE job SET outcome = p_outcome, words = p_words, seconds = took, due = p_now + make_interval(secs => p_wait),
           failures = CASE p_outcome WHEN 'failed' THEN failures + 1 ELSE 0 END
     WHERE name = p_name AND began = p_began AND outcome = 'running';
    ours := FOUND;
    IF p_logged THEN
        INSERT INTO job_run (name, began, seconds, outcome, words) VALUES (p_name, p_began, took, p_outcome, p_words);
    END IF;
    IF ours THEN
        PERFORM pg_advisory_unlock(job_lock(p_name));
    END IF;
    RETURN CASE WHEN ours THEN took END;
END $$;
