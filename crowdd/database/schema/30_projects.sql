-- Projects: their record, what assignment needs of it, texts, files, earlier guides and questions, tokens.

-- What projects are sorted by. A new site has two.
CREATE TABLE category (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    name text NOT NULL,
    short_name text NOT NULL,
    description text NOT NULL DEFAULT '',
    info jsonb NOT NULL DEFAULT '{}',
    name_skeleton text,                                 -- how the names look (01_core.sql)
    short_name_skeleton text
);
CREATE UNIQUE INDEX category_name ON category (lower(name));
CREATE UNIQUE INDEX category_short_name ON category (short_name);
CREATE UNIQUE INDEX category_name_skeleton ON category (name_skeleton) WHERE name_skeleton <> '';
CREATE UNIQUE INDEX category_short_name_skeleton ON category (short_name_skeleton) WHERE short_name_skeleton <> '';
CREATE TRIGGER category_names BEFORE INSERT OR UPDATE OF name, short_name ON category FOR EACH ROW EXECUTE FUNCTION names_changed();
INSERT INTO category (created, name, short_name, description) VALUES
    (now(), 'Thinking', 'thinking', 'Read, compare, decide: tasks for the mind'),
    (now(), 'Volunteer Sensing', 'sensing', 'Look, listen, measure: tasks for the senses');
CREATE CONSTRAINT TRIGGER category_exposed AFTER INSERT OR UPDATE OR DELETE ON category DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();

-- Columns of project that are computed from its info ------------------------------------------------------------------
--
-- info also holds the presenter, a wide value: what is read often or for many projects has a column of its own.

-- The keys of info that the cards of projects need, without documents, and without values that no card can use.
CREATE FUNCTION summary_of_info(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(p_info)
 WHERE key IN ('container', 'thumbnail', 'thumbnail_url', 'sched', 'lease_seconds', 'language', 'max_answer_bytes')
   AND octet_length(value::text) <= 2000 $$;

-- Where in the answers the value stands by which they are compared: at the place of the first answer field (info.answers), or under the
-- key info.answer_key. Null: neither is declared.
CREATE FUNCTION declared_path(p_info jsonb) RETURNS text[] IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN field->>'at' = '' THEN '{}'
            WHEN field->>'at' LIKE '/%' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY nth)
                                                FROM unnest(string_to_array(substr(field->>'at', 2), '/')) WITH ORDINALITY p (part, nth))
            WHEN jsonb_typeof(p_info->'answer_key') = 'string' AND p_info->>'answer_key' <> '' THEN ARRAY[p_info->>'answer_key'] END
  FROM (SELECT CASE WHEN jsonb_typeof(found->'name') = 'string' AND jsonb_typeof(found->'at') = 'string'
                     AND found->>'type' IN ('label', 'labels', 'number', 'text', 'boxes', 'points', 'polygon', 'spans') THEN found END AS field
          FROM (SELECT CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers'->0 WHEN 'object' THEN p_info->'answers' END AS found) f) d $$;

-- The names of the declared answer fields; null: none are declared.
CREATE FUNCTION declared_names(p_info jsonb) RETURNS text[] IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT array_agg(f->>'name' ORDER BY nth) FROM jsonb_array_elements(CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers'
       WHEN 'object' THEN jsonb_build_array(p_info->'answers') END) WITH ORDINALITY e (f, nth)
HAVING bool_and(jsonb_typeof(f->'name') = 'string') AND count(*) <= 10 $$;

-- The declared answer fields with what comparing their values needs (definitions/tasks/29_comparison.sql). Null: none is declared, or a
-- single label without choices, which is compared by equal values as answers without fields are. Then completing a task needs nothing
-- but answer_path.
CREATE FUNCTION declared_fields(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN bool_and(valid) AND count(*) <= 10 AND (count(*) > 1 OR bool_or(type <> 'label') OR bool_or(field ? 'choices')) THEN jsonb_agg(field ORDER BY nth) END
  FROM (SELECT nth, type,
               coalesce(jsonb_typeof(f->'name') = 'string' AND jsonb_typeof(f->'at') = 'string' AND (f->>'at' = '' OR f->>'at' LIKE '/%')
                        AND type IN ('label', 'labels', 'number', 'text', 'boxes', 'points', 'polygon', 'spans'), false) AS valid,
               jsonb_strip_nulls(jsonb_build_object(
                   'path', CASE WHEN f->>'at' <> '' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY n)
                                                            FROM unnest(string_to_array(substr(f->>'at', 2), '/')) WITH ORDINALITY p (part, n)) ELSE '{}' END::text,
                   'type', CASE WHEN type = 'labels' AND choices IS NULL THEN 'label' ELSE type END,
                   'choices', CASE WHEN type = 'label' AND f ? 'unsure' THEN choices || jsonb_build_array(f->'unsure') ELSE choices END,
                   'min', CASE WHEN jsonb_typeof(f->'min') = 'number' THEN f->'min' END, 'max', CASE WHEN jsonb_typeof(f->'max') = 'number' THEN f->'max' END,
                   'tolerance', CASE WHEN jsonb_typeof(f->'tolerance') = 'number' THEN f->'tolerance' END)) AS field
          FROM jsonb_array_elements(CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers' WHEN 'object' THEN jsonb_build_array(p_info->'answers') END)
               WITH ORDINALITY e (f, nth),
               LATERAL (SELECT f->>'type' AS type, CASE WHEN jsonb_typeof(f->'choices') = 'array' THEN
                               CASE WHEN jsonb_array_length(f->'choices') BETWEEN 1 AND 50 THEN f->'choices' END END AS choices) c) d $$;

-- What a project declares of the label that its first answer field is: {path, choices, fixed}. path is a text[], as in
-- answer_fields. fixed: the choices are declared; otherwise classes are numbered as they appear. Null: the first field is none.
CREATE FUNCTION declared_label(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN f->>'type' = 'label' AND jsonb_typeof(f->'name') = 'string' AND jsonb_typeof(f->'at') = 'string' AND (f->>'at' = '' OR f->>'at' LIKE '/%') THEN
       jsonb_build_object(
           'path', CASE WHEN f->>'at' <> '' THEN (SELECT array_agg(replace(replace(part, '~1', '/'), '~0', '~') ORDER BY n)
                                                    FROM unnest(string_to_array(substr(f->>'at', 2), '/')) WITH ORDINALITY p (part, n)) ELSE '{}' END::text,
           'choices', coalesce(choices, '[]') || CASE WHEN f ? 'unsure' AND NOT coalesce(choices, '[]') @> (f->'unsure') THEN jsonb_build_array(f->'unsure') ELSE '[]' END,
           'fixed', choices IS NOT NULL) END
  FROM (SELECT f, CASE WHEN jsonb_typeof(f->'choices') = 'array' THEN CASE WHEN jsonb_array_length(f->'choices') BETWEEN 1 AND 50 THEN f->'choices' END END AS choices
          FROM (SELECT CASE jsonb_typeof(p_info->'answers') WHEN 'array' THEN p_info->'answers'->0 WHEN 'object' THEN p_info->'answers' END AS f) d) c $$;

-- When a task is complete before it has all its answers (info.trust): {min_answers, confidence}. Null: never.
CREATE FUNCTION declared_trust(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = public, pg_catalog AS $$
SELECT CASE WHEN jsonb_typeof(t) = 'object' THEN jsonb_build_object(
           'min_answers', CASE WHEN jsonb_typeof(t->'min_answers') = 'number' THEN least(greatest((t->>'min_answers')::numeric, 1), 50)::int ELSE 2 END,
           'confidence', CASE WHEN jsonb_typeof(t->'confidence') = 'number' THEN least(greatest((t->>'confidence')::numeric, 0.5), 0.999) ELSE 0.95 END) END
  FROM (SELECT p_info->'trust' AS t) d $$;

-- A project with its owners.
CREATE TABLE project (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    updated timestamptz NOT NULL,
    name text NOT NULL,
    short_name text NOT NULL,
    description text NOT NULL DEFAULT '',
    long_description text NOT NULL DEFAULT '',
    webhook text,
    allow_anonymous_contributors boolean NOT NULL DEFAULT true,
    published boolean NOT NULL DEFAULT false,
    first_published timestamptz,                        -- null: a draft; with published false: paused
    featured boolean NOT NULL DEFAULT false,
    contacted boolean NOT NULL DEFAULT false,
    zip_download boolean NOT NULL DEFAULT true,
    secret_key_encrypted bytea NOT NULL,
    owner_id bigint NOT NULL REFERENCES account,
    owners_ids bigint[] NOT NULL,                       -- the owner and the co-owners
    category_id bigint NOT NULL REFERENCES category,
    passwd_hash text,
    lock_id text,                                       -- changes with the password: what a password cookie proves
    info jsonb NOT NULL DEFAULT '{}',
    -- Its "try it" link: people who have the link may see the draft and try it. 128 random bits; null once it was published.
    draft_key text,
    -- Settings of info that rights are decided by, and the keys of info that cards of projects need.
    answers_when_complete boolean NOT NULL GENERATED ALWAYS AS (info @> '{"answers_when_complete": true}') STORED,
    token_per_volunteer boolean NOT NULL GENERATED ALWAYS AS (info @> '{"token_per_volunteer": true}') STORED,
    summary_info jsonb NOT NULL GENERATED ALWAYS AS (summary_of_info(info)) STORED,
    -- The names of columns of tasks that are hidden from volunteers (info.column_roles); null: none.
    hidden_columns jsonb GENERATED ALWAYS AS (
        nullif(jsonb_path_query_array(info, '$.column_roles.keyvalue() ? (@.value == "hidden").key', '{}', true), '[]')) STORED,
    -- What info declares of answers; see the functions above.
    answer_path text[] GENERATED ALWAYS AS (declared_path(info)) STORED,
    answer_names text[] GENERATED ALWAYS AS (declared_names(info)) STORED,
    answer_label jsonb GENERATED ALWAYS AS (declared_label(info)) STORED,
    trust jsonb GENERATED ALWAYS AS (declared_trust(info)) STORED,
    answer_fields jsonb GENERATED ALWAYS AS (declared_fields(info)) STORED,
    -- While a project has gold tasks, volunteers see their own answers only, and of no task whether it is complete.
    has_gold boolean NOT NULL DEFAULT false,
    shows_accuracy boolean GENERATED ALWAYS AS (coalesce(info->'show_accuracy' = 'true', false)) STORED,
    reviewer_ids bigint[] NOT NULL DEFAULT '{}',        -- who may see answers and decide tasks, beside the owners
    name_skeleton text,                                 -- how the names look (01_core.sql)
    short_name_skeleton text,
    CHECK (owner_id = ANY (owners_ids)),
    CHECK ((passwd_hash IS NULL) = (lock_id IS NULL)),
    CHECK (first_published IS NOT NULL OR NOT published)
);
CREATE UNIQUE INDEX project_name ON project (lower(name));
CREATE UNIQUE INDEX project_short_name ON project (short_name);
CREATE INDEX project_owners ON project USING gin (owners_ids);
CREATE INDEX project_category ON project (category_id, id);
CREATE INDEX project_featured ON project (id) WHERE featured;
-- The search for projects, and the lists of administrators.
CREATE INDEX project_search ON project USING gin ((name || ' ' || description) gin_trgm_ops);
CREATE INDEX project_owner ON project (owner_id, id);
CREATE INDEX project_state ON project
    ((CASE WHEN published THEN 'published' WHEN first_published IS NULL THEN 'draft' ELSE 'paused' END), id);
CREATE INDEX project_owner_state ON project
    (owner_id, (CASE WHEN published THEN 'published' WHEN first_published IS NULL THEN 'draft' ELSE 'paused' END), id);
CREATE INDEX project_reviewers ON project USING gin (reviewer_ids);
CREATE UNIQUE INDEX project_name_skeleton ON project (name_skeleton) WHERE name_skeleton <> '';
CREATE UNIQUE INDEX project_short_name_skeleton ON project (short_name_skeleton) WHERE short_name_skeleton <> '';
CREATE TRIGGER project_names BEFORE INSERT OR UPDATE OF name, short_name ON project FOR EACH ROW EXECUTE FUNCTION names_changed();
CREATE CONSTRAINT TRIGGER project_exposed AFTER INSERT OR UPDATE OR DELETE ON project DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();

-- What assignment needs of a project, beside the wide row. One import at a time holds this row.
CREATE TABLE project_ledger (
    project_id bigint PRIMARY KEY REFERENCES project,
    sched text NOT NULL DEFAULT 'default',
    lease interval NOT NULL DEFAULT '1 hour',
    preload interval NOT NULL DEFAULT '10 minutes',
    trial boolean NOT NULL DEFAULT true,                -- never published: runs are trials, events are not emitted
    paused boolean NOT NULL DEFAULT false,              -- no new leases
    members_only boolean NOT NULL DEFAULT false,        -- no anonymous volunteers
    lock_id text,                                       -- as in project
    n_ordinals bigint NOT NULL DEFAULT 0,               -- dense numbers of its tasks, for random
    max_rank double precision NOT NULL DEFAULT '-infinity', -- the end of the default order
    epoch int NOT NULL DEFAULT 0,                       -- raised by mass changes of the order: positions begin again
    xid_base bigint NOT NULL DEFAULT 0,                 -- added to transaction ids; raised after a dump and restore
    -- Volunteers request tasks in an order in which added tasks come before others: these are stamped as returned for them.
    two_way boolean NOT NULL DEFAULT false,
    counted_per_network int NOT NULL DEFAULT 1,         -- what holds here: the project's own value or the site's
    has_bars boolean NOT NULL DEFAULT false,            -- whether barred_volunteer has rows of the project
    draft_key text,                                     -- as in project
    has_label boolean NOT NULL DEFAULT false,           -- whether it has a trust_model
    n_gold int NOT NULL DEFAULT 0,                      -- gold tasks
    gold_rate real NOT NULL DEFAULT 0.03,               -- share of gold tasks in the long run (info.gold_rate, kinds/gold_shares.py)
    gold_start real NOT NULL DEFAULT 0.3,               -- at the beginning of each volunteer (info.gold_start)
    gold_feedback boolean NOT NULL DEFAULT false        -- volunteers hear whether they were right (info.gold_feedback)
) WITH (fillfactor = 50);

-- Named API tokens with a scope, beside the one API key of an account.
CREATE TABLE api_token (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    token_hash bytea NOT NULL UNIQUE,                   -- keyed hash: the token itself is shown once and stored nowhere
    name text NOT NULL,
    scope text NOT NULL CHECK (scope IN ('read', 'answer', 'project', 'everything')),
    project_id bigint REFERENCES project ON DELETE CASCADE,
    created timestamptz NOT NULL,
    expires timestamptz,                                -- null: until it is revoked
    last_used timestamptz,                              -- written at most once an hour
    CHECK ((scope = 'project') = (project_id IS NOT NULL))
);
CREATE INDEX api_token_user ON api_token (user_id);
CREATE INDEX api_token_project ON api_token (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX api_token_expires ON api_token (expires) WHERE expires IS NOT NULL;

-- News of a project.
CREATE TABLE blogpost (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    updated timestamptz NOT NULL,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    user_id bigint REFERENCES account ON DELETE SET NULL,
    title text NOT NULL,
    body text NOT NULL,
    info jsonb NOT NULL DEFAULT '{}',
    media_url text,
    media_file text,                                    -- path below the folder of uploads, chosen by the server
    published boolean NOT NULL DEFAULT false
);
CREATE INDEX blogpost_project ON blogpost (project_id, id);
CREATE CONSTRAINT TRIGGER blogpost_exposed AFTER INSERT OR UPDATE OR DELETE ON blogpost DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();

-- Files and values that a presenter shows beside tasks.
CREATE TABLE helpingmaterial (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    info jsonb NOT NULL DEFAULT '{}',
    media_url text,
    media_file text,                                    -- as in blogpost
    priority double precision NOT NULL DEFAULT 0
);
CREATE INDEX helpingmaterial_project ON helpingmaterial (project_id, id);

-- Files that projects brought.
CREATE TABLE upload_file (
    path text PRIMARY KEY,                              -- <container>/<name>
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    bytes bigint NOT NULL
);
CREATE INDEX upload_file_project ON upload_file (project_id);

-- Guides of projects (info.guided_tutorial, info.field_guide) as they were, by their number. The last twenty of each are kept.
CREATE TABLE guide_version (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    guide text NOT NULL CHECK (guide IN ('guided_tutorial', 'field_guide')),
    version int NOT NULL CHECK (version > 0),
    created timestamptz NOT NULL,
    document jsonb NOT NULL,
    PRIMARY KEY (project_id, guide, version)
);

-- Earlier lists of questions, so that answers to them can still be read: each answer names the version that it was given to.
CREATE TABLE question_version (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    version int NOT NULL CHECK (version > 0),           -- info.questions_version of the project
    created timestamptz NOT NULL,
    questions jsonb NOT NULL,                           -- info.questions of the project
    PRIMARY KEY (project_id, version)
);

-- Keeps the current questions of a project and those of the 99 versions before. A trigger, because info is written in many ways:
-- pages, the API, project folders.
CREATE FUNCTION keep_questions() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
DECLARE v int := CASE WHEN NEW.info->>'questions_version' ~ '^[1-9][0-9]{0,8}$' THEN (NEW.info->>'questions_version')::int END;
BEGIN
    IF v IS NULL OR jsonb_typeof(NEW.info->'questions') <> 'object' THEN RETURN NULL; END IF;
    INSERT INTO question_version (project_id, version, created, questions) VALUES (NEW.id, v, now(), NEW.info->'questions')
    ON CONFLICT (project_id, version) DO UPDATE SET questions = EXCLUDED.questions;
    DELETE FROM question_version WHERE project_id = NEW.id AND version <= v - 100;
    RETURN NULL;
END $$;
CREATE TRIGGER questions_begin AFTER INSERT ON project FOR EACH ROW WHEN (NEW.info ? 'questions') EXECUTE FUNCTION keep_questions();
CREATE TRIGGER questions_change AFTER UPDATE OF info ON project FOR EACH ROW
  WHEN (NEW.info ? 'questions' AND NEW.info->'questions' IS DISTINCT FROM OLD.info->'questions') EXECUTE FUNCTION keep_questions();
