-- Answers (task runs) and the people who give them: codes, bars, identities of one person.

-- An answer. No foreign keys: the lock on the ledger row says that the task exists.
CREATE TABLE task_run (
    id bigint GENERATED ALWAYS AS IDENTITY,
    project_id bigint NOT NULL,
    task_id bigint NOT NULL,
    actor text NOT NULL,
    user_id bigint,
    user_ip text,                                       -- pseudonym of the network of an anonymous answer
    external_uid text,
    created timestamptz NOT NULL,                       -- when the task was handed out
    finish_time timestamptz NOT NULL,
    counted boolean NOT NULL,
    trial boolean NOT NULL DEFAULT false,
    timeout double precision,                           -- seconds after the end of the lease
    calibration bigint,
    media_url text,
    info jsonb NOT NULL,
    aside bigint,                                       -- the bar by which an owner set it aside; 0: the same person had answered before
    origin text,                                        -- of an answer that came with an export: '<project>/<id>' as it was there
    class smallint,                                     -- number of its choice; null: it does not fit, or no label is declared
    unreliable boolean NOT NULL DEFAULT false,          -- not counted, because its volunteer was no better than chance
    gold boolean NOT NULL DEFAULT false,                -- given while its task was a gold task
    is_right boolean,                                   -- of gold; null: still to be compared
    taught jsonb,                                       -- what its evidence said: {generation, class, truth}; null: it taught nothing
    changed_xid bigint NOT NULL DEFAULT public.change_stamp(),    -- transaction that last changed what is shown of it
    -- How it was given, as the volunteer's page told it (interface: taskrun-circumstances). It stays as it is when the answer is changed.
    circumstances jsonb,
    PRIMARY KEY (project_id, id),
    CONSTRAINT one_run_per_person UNIQUE (project_id, task_id, actor)
);
CREATE INDEX task_run_id ON task_run (id);
CREATE INDEX task_run_user ON task_run (user_id, id) WHERE user_id IS NOT NULL;
-- The answers of one browser, for people who claim them. Answers of accounts are not in the index.
CREATE INDEX task_run_browser ON task_run (actor, project_id, task_id) WHERE actor LIKE 'c:%';
CREATE INDEX task_run_network ON task_run (user_ip, (project_id + 0), (-task_id), counted) WHERE user_ip IS NOT NULL;
CREATE INDEX task_run_aside ON task_run (aside, task_id) WHERE aside IS NOT NULL;
CREATE UNIQUE INDEX task_run_origin ON task_run (project_id, origin) WHERE origin IS NOT NULL;
CREATE INDEX task_run_gold ON task_run (project_id, id) WHERE gold AND is_right IS NULL;
CREATE INDEX task_run_gold_of ON task_run (project_id, actor) WHERE gold;
CREATE INDEX task_run_changed ON task_run ((project_id + 0), changed_xid, id);
CREATE INDEX task_run_repeated ON task_run (actor, project_id) WHERE aside = 0;

-- The code that identifies the answers of one volunteer in one project: random, created with the first answer.
CREATE TABLE volunteer_word (
    project_id bigint NOT NULL,
    actor text NOT NULL,
    word text NOT NULL,
    PRIMARY KEY (project_id, actor)
);
CREATE UNIQUE INDEX volunteer_word_word ON volunteer_word (word, project_id);

-- The rule of the site ([volunteers] counted_per_network), written when a server starts. One row.
CREATE TABLE volunteer_rule (
    counted_per_network int NOT NULL,                   -- 0: no limit
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
INSERT INTO volunteer_rule VALUES (1);

-- Volunteers who may not answer in a project.
CREATE TABLE barred_volunteer (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    subject text NOT NULL,                              -- a volunteer ('u:7', 'c:…', 'i:…', 'x:…'), or 'n:…': all anonymous ones of a network
    shown text,                                         -- how owners know an anonymous one: the pseudonym of the network
    at timestamptz NOT NULL,
    user_id bigint,                                     -- who did it
    reason text NOT NULL DEFAULT '',
    UNIQUE (project_id, subject)
);
CREATE CONSTRAINT TRIGGER volunteer_barred AFTER INSERT OR UPDATE OR DELETE ON barred_volunteer DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();

-- Which identities of volunteers belong to one person, because one browser has proved both: the cookie of a volunteer (c:), an account
-- (u:), an external user (x:) (record 4). Each link is two rows.
CREATE TABLE same_person (
    actor text NOT NULL,
    -- The project whose external user one of both is, for another project may mean another person by the same id; 0: neither is one.
    project_id bigint NOT NULL,
    other text NOT NULL,
    created timestamptz NOT NULL,
    -- In the row whose actor is less: the answers that both gave to a task are still to be looked for; 0: at once; otherwise when all
    -- transactions before this one have ended, since they may not have seen the link; null: that is done.
    due xid8,
    PRIMARY KEY (actor, project_id, other)
);
CREATE INDEX same_person_due ON same_person (actor) WHERE due IS NOT NULL;
CREATE INDEX same_person_project ON same_person (project_id) WHERE project_id <> 0;
