-- expands: groups of volunteers, whose members join with a code

-- People who answer together, such as a class.
CREATE TABLE volunteer_group (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    created timestamptz NOT NULL,
    name text NOT NULL,
    size int NOT NULL CHECK (size BETWEEN 1 AND 200),   -- the most members
    last_day date NOT NULL,                             -- in UTC; the group is deleted some days later
    code text UNIQUE,                                   -- with which people join; null: nobody can
    shows_names boolean NOT NULL DEFAULT false          -- the board names the members with their numbers of answers
);
CREATE INDEX volunteer_group_owner ON volunteer_group (owner_id, id);
CREATE INDEX volunteer_group_last_day ON volunteer_group (last_day);

-- A member has an account, or is a guest: a volunteer known by a cookie, with a name of their choice and nothing else.
CREATE TABLE group_member (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    group_id bigint NOT NULL REFERENCES volunteer_group ON DELETE CASCADE,
    seat int NOT NULL,                                  -- from 0, below the size of the group: by it guests share places (record 4)
    name text NOT NULL,
    actor text NOT NULL,
    user_id bigint REFERENCES account ON DELETE CASCADE,
    number_hash bytea,                                  -- keyed hash of the number by which a guest comes back on another device
    joined timestamptz NOT NULL,
    answers_before bigint NOT NULL,                     -- of an account, before it joined
    CHECK ((user_id IS NULL) = (number_hash IS NOT NULL)),
    UNIQUE (group_id, seat),
    UNIQUE (group_id, actor)
);
CREATE UNIQUE INDEX group_member_name ON group_member (group_id, lower(name));
CREATE INDEX group_member_actor ON group_member (actor);
CREATE INDEX group_member_user ON group_member (user_id) WHERE user_id IS NOT NULL;

-- How many answers to a task may count of the guests of one person's groups.
ALTER TABLE project ADD COLUMN counted_per_group int NOT NULL GENERATED ALWAYS AS (
    CASE WHEN jsonb_typeof(info->'counted_per_group') = 'number' THEN least(greatest((info->>'counted_per_group')::numeric, 1), 1000)::int ELSE 1 END) STORED;
