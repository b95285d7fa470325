-- expands: what shards tell home of their projects (docs/decisions/0236-tell-home-the-figures-of-shards.md)

-- On a shard: the versions of rows that home has been told.
CREATE TABLE told_project (
    project_id bigint PRIMARY KEY,
    project xid NOT NULL,
    figures xid
);
CREATE TABLE told_score (
    user_id bigint PRIMARY KEY,
    runs bigint NOT NULL
);

-- At home: how many answers people have given on each shard, as it was told last; person_stat counts them, too.
CREATE TABLE shard_score (
    shard int NOT NULL REFERENCES shard,
    user_id bigint NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (shard, user_id)
);
