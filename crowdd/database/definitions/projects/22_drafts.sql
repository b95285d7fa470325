-- Drafts and their "try it" links.

-- A key of 128 random bits for the "try it" link of a draft.
CREATE FUNCTION new_draft_key() RETURNS text VOLATILE LANGUAGE sql AS $$
SELECT 'try-' || left(encode(sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea), 'hex'), 32) $$;

-- Whether a person can see and try a project: it was published once, or they have its link, own it or are
-- administrators.
CREATE FUNCTION reachable(p project_ledger, p_user bigint, p_admin boolean, p_unlocked text[]) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN NOT p.trial OR p_admin OR coalesce(p.draft_key = ANY (p_unlocked), false)
        OR EXISTS (SELECT FROM project WHERE id = p.project_id AND owners_ids @> ARRAY[p_user]);
END $$;
