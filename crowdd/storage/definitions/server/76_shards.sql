-- What shards tell home: rows of their projects with figures, and how many answers people have given there.

-- On a shard: the next projects that have changed since home was told, with their rows, figures and hours since a time. The versions are
-- those of the rows that are returned.
CREATE FUNCTION changed_cards(p_since timestamptz, p_maximum int, OUT project_id bigint, OUT project xid, OUT figures xid,
                              OUT card jsonb) RETURNS SETOF record STABLE LANGUAGE sql AS $$
SELECT p.id, p.xmin, s.xmin, jsonb_build_object('project', to_jsonb(p), 'figures', to_jsonb(s), 'n_gold', (SELECT n_gold FROM project_ledger l WHERE l.project_id = p.id),
           'hours', (SELECT jsonb_agg(to_jsonb(h) ORDER BY h.hour) FROM project_hour h WHERE h.project_id = p.id AND h.hour >= p_since))
  FROM project p LEFT JOIN project_stat s ON s.project_id = p.id LEFT JOIN told_project t ON t.project_id = p.id
 WHERE t.project IS DISTINCT FROM p.xmin OR t.figures IS DISTINCT FROM s.xmin ORDER BY p.id LIMIT p_maximum $$;

-- At home, in a transaction: takes a card of a project that lives on that shard; false where it does not.
CREATE FUNCTION take_card(p_shard int, p_project bigint, p_card jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE told project := jsonb_populate_record(NULL::project, p_card->'project');
BEGIN
    PERFORM FROM project_place WHERE project_id = p_project AND shard = p_shard FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE project p SET updated = told.updated, description = told.description, long_description = told.long_description,
           webhook = told.webhook, allow_anonymous_contributors = told.allow_anonymous_contributors, published = told.published,
           first_published = told.first_published, featured = told.featured, contacted = told.contacted, zip_download = told.zip_download,
           owner_id = told.owner_id, owners_ids = told.owners_ids, category_id = told.category_id, passwd_hash = told.passwd_hash,
           lock_id = told.lock_id, info = told.info, draft_key = told.draft_key, reviewer_ids = told.reviewer_ids, has_gold = told.has_gold
     WHERE p.id = p_project;
    UPDATE project_ledger SET trial = told.first_published IS NULL, paused = told.first_published IS NOT NULL AND NOT told.published,
           lock_id = told.lock_id, draft_key = told.draft_key, n_gold = coalesce((p_card->>'n_gold')::int, 0) WHERE project_id = p_project;
    PERFORM lock_stats();
    DELETE FROM project_stat WHERE project_id = p_project;
    INSERT INTO project_stat SELECT r.* FROM jsonb_populate_record(NULL::project_stat, p_card->'figures') r WHERE r.project_id = p_project;
    DELETE FROM project_hour h USING jsonb_populate_recordset(NULL::project_hour, coalesce(nullif(p_card->'hours', 'null'), '[]')) r
     WHERE h.project_id = p_project AND h.hour = r.hour;
    INSERT INTO project_hour SELECT r.* FROM jsonb_populate_recordset(NULL::project_hour, coalesce(nullif(p_card->'hours', 'null'), '[]')) r;
    RETURN true;
END $$;

-- At home: people have given so many answers on a shard. What they had been said to have given before counts no more.
CREATE FUNCTION take_scores(p_shard int, p_users bigint[], p_runs bigint[]) RETURNS void LANGUAGE sql AS $$
WITH told AS (
    SELECT t.user_id, t.runs, coalesce(s.runs, 0) AS before
      FROM unnest(p_users, p_runs) t(user_id, runs) LEFT JOIN shard_score s ON s.shard = p_shard AND s.user_id = t.user_id
), kept AS (
    INSERT INTO shard_score (shard, user_id, runs) SELECT p_shard, user_id, runs FROM told ORDER BY user_id
        ON CONFLICT (shard, user_id) DO UPDATE SET runs = excluded.runs
)
INSERT INTO stat_delta (project_id, hour, user_id, runs) SELECT 0, 'epoch', user_id, runs - before FROM told WHERE runs <> before $$;

-- At home, in a transaction: a project that lived on a shard was deleted there, so its card goes.
CREATE FUNCTION drop_card(p_project bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM project_place WHERE project_id = p_project;
    PERFORM drop_stats(p_project);
    DELETE FROM project_ledger WHERE project_id = p_project;
    DELETE FROM project WHERE id = p_project;
END $$;
