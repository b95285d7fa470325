-- Blog posts and helping materials of projects, announcements of the site; each may have a file.

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
    media_file text,                                    -- below the folder of uploads; never what a client said
    published boolean NOT NULL DEFAULT false
);
CREATE INDEX blogpost_project ON blogpost (project_id, id);

CREATE TABLE helpingmaterial (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    info jsonb NOT NULL DEFAULT '{}',
    media_url text,
    media_file text,
    priority double precision NOT NULL DEFAULT 0
);
CREATE INDEX helpingmaterial_project ON helpingmaterial (project_id, id);

CREATE TABLE announcement (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz NOT NULL,
    updated timestamptz NOT NULL,
    user_id bigint REFERENCES account ON DELETE SET NULL,
    title text NOT NULL,
    body text NOT NULL,
    info jsonb NOT NULL DEFAULT '{}',
    media_url text,
    media_file text,
    published boolean NOT NULL DEFAULT true
);
