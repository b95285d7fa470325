-- Guides of projects (info.guided_tutorial, info.field_guide) as they were, by their number. The last twenty of each are kept.

CREATE TABLE guide_version (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    guide text NOT NULL CHECK (guide IN ('guided_tutorial', 'field_guide')),
    version int NOT NULL CHECK (version > 0),
    created timestamptz NOT NULL,
    document jsonb NOT NULL,
    PRIMARY KEY (project_id, guide, version)
);
