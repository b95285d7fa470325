-- What administrators set of the site: one row. NULL: nothing is set, and crowdd.conf or the program decides.

CREATE TABLE site (
    id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    version bigint NOT NULL DEFAULT 0,  -- grows with each change
    updated timestamptz,
    name text CHECK (name <> ''),
    logo text CHECK (logo ~ '^site/'),  -- a path below /uploads/
    accent_light text CHECK (accent_light ~ '^#[0-9a-f]{6}$'),
    accent_dark text CHECK (accent_dark ~ '^#[0-9a-f]{6}$'),
    default_redundancy integer CHECK (default_redundancy BETWEEN 1 AND 10000),
    signup text NOT NULL DEFAULT 'open' CHECK (signup IN ('open', 'invitation')),
    signups_per_hour integer CHECK (signups_per_hour >= 0),
    max_projects integer CHECK (max_projects >= 0),
    texts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(texts) = 'object'),  -- {text: {language: Markdown}}
    mail_tested timestamptz,
    steps_hidden timestamptz
);
INSERT INTO site DEFAULT VALUES;
