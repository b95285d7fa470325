-- The audit log as a chain of hashes, so that a change of the past shows.
--
-- Writers do not wait for the chain: a row gets its position after its commit, as events get their numbers. Rows that commit late
-- come later in the chain, so there is no horizon to wait for. The hash of a row is made of the server's key, the hash of the row
-- before and the digest of the row: a person who can write to the database cannot make another chain without the key file.
--
-- What never changes (when, what, which object) is part of the digest. Personal data is part of it by salted hashes, one for each
-- group that is removed together. Who removes a group removes its salt, too (crowdd/features/people/personal_data_statements.py): the chain
-- stays whole, and nothing can be found out from what is left. Old rows are removed from the beginning, which moves.

-- A text for each group of columns with personal data.
CREATE FUNCTION audit_who(a audit) RETURNS text STABLE LANGUAGE sql AS $$
SELECT jsonb_build_array((a).user_id, (a).user_name)::text $$;
CREATE FUNCTION audit_origin(a audit) RETURNS text STABLE LANGUAGE sql AS $$
SELECT jsonb_build_array((a).network, (a).request_id)::text $$;
CREATE FUNCTION audit_values(a audit) RETURNS text STABLE LANGUAGE sql AS $$
SELECT jsonb_build_array((a).before, (a).after)::text $$;

CREATE FUNCTION salted(p_salt bytea, p_text text) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$
SELECT sha256(p_salt || convert_to(p_text, 'UTF8')) $$;

-- The digest of a row, given the hashes of its groups.
CREATE FUNCTION audit_digest(a audit, p_who bytea, p_origin bytea, p_values bytea) RETURNS bytea STABLE LANGUAGE sql AS $$
SELECT sha256(convert_to(jsonb_build_array((a).id, to_char((a).at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), (a).via, (a).action,
       (a).kind, (a).object_id, (a).project_id, (a).attribute)::text, 'UTF8') || p_who || p_origin || p_values) $$;

-- Chains the next committed rows. Returns how many there were.
CREATE FUNCTION chain_audit(p_key bytea, p_maximum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE c audit_chain; a audit; n int := 0; salts bytea[]; hashes bytea[];
BEGIN
    SELECT * INTO c FROM audit_chain FOR UPDATE;
    -- Locked, so that no personal data is removed from a row meanwhile. Rows that are being changed now are chained next time.
    FOR a IN SELECT * FROM audit WHERE position IS NULL ORDER BY id LIMIT p_maximum FOR UPDATE SKIP LOCKED LOOP
        salts := ARRAY[uuid_send(gen_random_uuid()), uuid_send(gen_random_uuid()), uuid_send(gen_random_uuid())];
        hashes := ARRAY[salted(salts[1], audit_who(a)), salted(salts[2], audit_origin(a)), salted(salts[3], audit_values(a))];
        c.position := c.position + 1;
        c.hash := sha256(p_key || c.hash || audit_digest(a, hashes[1], hashes[2], hashes[3]));
        UPDATE audit SET position = c.position, hash = c.hash, who_salt = salts[1], who_hash = hashes[1], origin_salt = salts[2],
               origin_hash = hashes[2], values_salt = salts[3], values_hash = hashes[3] WHERE id = a.id;
        n := n + 1;
    END LOOP;
    UPDATE audit_chain SET position = c.position, hash = c.hash;
    RETURN n;
END $$;

-- Removes rows from the beginning of the chain, up to p_maximum, while they are older than a time. Returns how many there were.
CREATE FUNCTION drop_audit(p_before timestamptz, p_maximum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE c audit_chain; upto bigint; n int;
BEGIN
    SELECT * INTO c FROM audit_chain FOR UPDATE;
    SELECT coalesce(min(position) FILTER (WHERE at >= p_before) - 1, max(position)) INTO upto
      FROM (SELECT position, at FROM audit WHERE position > c.begin_position ORDER BY position LIMIT p_maximum) a;
    IF upto IS NULL OR upto <= c.begin_position THEN RETURN 0; END IF;
    UPDATE audit_chain SET begin_position = upto, begin_hash = (SELECT hash FROM audit WHERE position = upto);
    DELETE FROM audit WHERE position <= upto;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;

-- Forgets the chain, for another key: all rows are chained again.
CREATE FUNCTION restart_audit_chain() RETURNS void LANGUAGE sql AS $$
UPDATE audit_chain SET begin_position = 0, begin_hash = '', position = 0, hash = '';
UPDATE audit SET position = NULL, hash = NULL, who_salt = NULL, who_hash = NULL, origin_salt = NULL, origin_hash = NULL, values_salt = NULL,
       values_hash = NULL WHERE position IS NOT NULL $$;

-- The first place at which the chain does not hold; no row: it holds. id is that of the row, null where a row is missing.
--   missing   rows were deleted at this position, in the middle or at the end
--   personal  a column with personal data was changed, or emptied without its salt
--   changed   another column, the order of rows or the chain was changed, or the row was added
--   late      the row says that it is more than an hour older than a row before it
-- STABLE: all rows are read as of one moment.
CREATE FUNCTION check_audit(p_key bytea) RETURNS TABLE (id bigint, "position" bigint, reason text) STABLE LANGUAGE plpgsql AS $$
DECLARE c audit_chain; a audit; latest timestamptz; n bigint; before bytea;
BEGIN
    SELECT * INTO c FROM audit_chain;
    n := c.begin_position;
    before := c.begin_hash;
    FOR a IN SELECT * FROM audit x WHERE x.position IS NOT NULL ORDER BY x.position LOOP
        n := n + 1;
        IF a.position <> n THEN
            RETURN QUERY SELECT NULL::bigint, n, 'missing';
            RETURN;
        END IF;
        reason := CASE
            WHEN a.hash <> sha256(p_key || before || audit_digest(a, a.who_hash, a.origin_hash, a.values_hash)) THEN 'changed'
            WHEN CASE WHEN a.who_salt IS NULL THEN a.user_id IS NOT NULL OR a.user_name <> '' ELSE salted(a.who_salt, audit_who(a)) <> a.who_hash END
              OR CASE WHEN a.origin_salt IS NULL THEN a.network <> '' OR a.request_id <> '' ELSE salted(a.origin_salt, audit_origin(a)) <> a.origin_hash END
              OR CASE WHEN a.values_salt IS NULL THEN a.before IS NOT NULL OR a.after IS NOT NULL ELSE salted(a.values_salt, audit_values(a)) <> a.values_hash END
            THEN 'personal'
            WHEN a.at < latest - interval '1 hour' THEN 'late' END;
        IF reason IS NOT NULL THEN
            RETURN QUERY SELECT a.id, a.position, reason;
            RETURN;
        END IF;
        before := a.hash;
        latest := greatest(latest, a.at);
    END LOOP;
    IF n <> c.position OR before <> c.hash THEN RETURN QUERY SELECT NULL::bigint, n + 1, 'missing'; END IF;
END $$;
