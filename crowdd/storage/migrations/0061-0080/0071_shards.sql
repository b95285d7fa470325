-- expands: projects that live on other databases (docs/decisions/0234-keep-each-project-on-one-database.md)

-- At home: the databases that projects may live on besides this one.
CREATE TABLE shard (
    number int PRIMARY KEY CHECK (number BETWEEN 1 AND 999),
    name text NOT NULL UNIQUE,
    added timestamptz NOT NULL
);

-- At home: where a project lives; without a row it lives here.
CREATE TABLE project_place (
    project_id bigint PRIMARY KEY,
    shard int NOT NULL REFERENCES shard
);

-- On a shard: which one it is.
CREATE TABLE own_shard (
    number int NOT NULL,
    name text NOT NULL,
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);

-- Where rows arrive by replication, no search_path is set.
ALTER FUNCTION exposure_changed() SET search_path = public;
