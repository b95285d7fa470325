-- Counts one attempt for each subject, unless one of them has used up its limit. In that case none is counted, and the
-- result is the number of seconds until the limit is free again. 0: counted. The rows are locked first, in one order,
-- so that simultaneous attempts cannot exceed the limit and two callers cannot wait for each other.
CREATE FUNCTION count_attempts(p_subjects text[], p_limits int[], p_minutes int[], p_now timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE wait interval;
BEGIN
    INSERT INTO attempt_count (subject, used, until) SELECT s, 0, p_now FROM unnest(p_subjects) s ORDER BY s ON CONFLICT DO NOTHING;
    PERFORM FROM attempt_count WHERE subject = ANY (p_subjects) ORDER BY subject FOR UPDATE;
    SELECT max(c.until - p_now) INTO wait
      FROM unnest(p_subjects, p_limits) AS l(subject, allowed) JOIN attempt_count c USING (subject)
     WHERE c.until > p_now AND c.used >= l.allowed;
    IF wait IS NOT NULL THEN
        RETURN greatest(1, ceil(extract(epoch FROM wait)));
    END IF;
    INSERT INTO attempt_count AS c (subject, used, until)
    SELECT l.subject, 1, p_now + make_interval(mins => l.minutes) FROM unnest(p_subjects, p_minutes) AS l(subject, minutes) ORDER BY 1
    ON CONFLICT (subject) DO UPDATE SET used = CASE WHEN c.until > p_now THEN c.used + 1 ELSE 1 END,
                                        until = CASE WHEN c.until > p_now THEN c.until ELSE EXCLUDED.until END;
    RETURN 0;
END $$;

-- Takes back one attempt from each subject. Those of p_cleared start again.
CREATE FUNCTION take_back_attempts(p_subjects text[], p_cleared text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM attempt_count WHERE subject = ANY (p_subjects || p_cleared) ORDER BY subject FOR UPDATE;
    UPDATE attempt_count SET used = CASE WHEN subject = ANY (p_cleared) THEN 0 ELSE greatest(used - 1, 0) END
     WHERE subject = ANY (p_subjects || p_cleared);
END $$;
