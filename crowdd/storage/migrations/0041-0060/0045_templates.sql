-- Templates of the site and of owners, and tasks that came with one as samples.

CREATE TABLE template (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token text NOT NULL UNIQUE,                                 -- names it in addresses; nobody can guess it
    owner_id bigint REFERENCES account ON DELETE CASCADE,       -- null: the site's
    offered boolean NOT NULL DEFAULT false,                     -- everybody sees it
    created timestamptz NOT NULL,
    card jsonb NOT NULL,                                        -- group, title, description, keywords
    questions jsonb NOT NULL,
    tasks jsonb NOT NULL,                                       -- the info of sample tasks
    n_answers int,
    thumbnail text NOT NULL,                                    -- name of a file, '' for none
    bytes bigint NOT NULL                                       -- of its files
);
CREATE INDEX template_owner ON template (owner_id, id);
CREATE INDEX template_offered ON template (id) WHERE offered;

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

CREATE TABLE sample_task (
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    PRIMARY KEY (project_id, task_id)
);
