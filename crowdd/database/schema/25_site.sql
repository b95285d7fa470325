-- The site: what administrators set and write, templates of projects, and texts as HTML.

-- What administrators set of the site: one row. Null: nothing is set, and crowdd.conf or the program decides.
CREATE TABLE site (
    id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    version bigint NOT NULL DEFAULT 0,                  -- grows with each change
    updated timestamptz,
    name text CHECK (name <> ''),
    logo text CHECK (logo ~ '^site/'),                  -- a path below /uploads/
    accent_light text CHECK (accent_light ~ '^#[0-9a-f]{6}$'),
    accent_dark text CHECK (accent_dark ~ '^#[0-9a-f]{6}$'),
    default_redundancy integer CHECK (default_redundancy BETWEEN 1 AND 10000),
    signup text NOT NULL DEFAULT 'open' CHECK (signup IN ('open', 'invitation')),
    signups_per_hour integer CHECK (signups_per_hour >= 0),
    max_projects integer CHECK (max_projects >= 0),
    texts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(texts) = 'object'), -- {text: {language: Markdown}}
    mail_tested timestamptz,
    steps_hidden timestamptz
);
INSERT INTO site DEFAULT VALUES;
CREATE CONSTRAINT TRIGGER site_exposed AFTER UPDATE ON site DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION exposure_changed();

-- The last computed statistics of the dashboard, which are too expensive to compute for each page.
CREATE TABLE dashboard (
    made timestamptz NOT NULL,
    figures jsonb NOT NULL,
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);

-- News of the site, which everybody reads.
CREATE TABLE announcement (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    updated timestamptz NOT NULL,
    user_id bigint REFERENCES account ON DELETE SET NULL,
    title text NOT NULL,
    body text NOT NULL,
    info jsonb NOT NULL DEFAULT '{}',
    media_url text,
    media_file text,                                    -- path below the folder of uploads, chosen by the server
    published boolean NOT NULL DEFAULT true
);
CREATE CONSTRAINT TRIGGER announcement_exposed AFTER INSERT OR UPDATE OR DELETE ON announcement DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();

-- Templates of the site and of owners. Those that come with crowdd are files.
CREATE TABLE template (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token text NOT NULL UNIQUE,                         -- names it in addresses; nobody can guess it
    owner_id bigint REFERENCES account ON DELETE CASCADE, -- null: the site's
    offered boolean NOT NULL DEFAULT false,             -- everybody sees it
    created timestamptz NOT NULL,
    card jsonb NOT NULL,                                -- group, title, description, keywords
    questions jsonb NOT NULL,
    tasks jsonb NOT NULL,                               -- the info of sample tasks
    n_answers int,
    thumbnail text NOT NULL,                            -- name of a file, '' for none
    bytes bigint NOT NULL                               -- of its files
);
CREATE INDEX template_owner ON template (owner_id, id);
CREATE INDEX template_offered ON template (id) WHERE offered;

-- The files of a template.
CREATE TABLE template_file (
    template_id bigint NOT NULL REFERENCES template ON DELETE CASCADE,
    name text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (template_id, name)
);

-- Templates that come with crowdd and that this site does not show.
CREATE TABLE hidden_template (
    name text PRIMARY KEY
);

-- HTML of texts in Markdown, made when they are written. A row that is missing is made when it is read.
CREATE TABLE rendered_text (
    key text PRIMARY KEY,                               -- hash of the text, the version of the renderer and the level of headings
    html text NOT NULL,
    excerpt text NOT NULL,                              -- its first words without marks
    used date NOT NULL                                  -- the last day, or nearly, on which it was read
);
CREATE INDEX rendered_text_used ON rendered_text (used);
