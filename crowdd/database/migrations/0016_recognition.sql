-- expands: what volunteers get back: leaderboards that can be left, certificates, and how long the answers of a project take

-- Who is on no leaderboard, because they wished it. Ranks of others count their answers all the same.
ALTER TABLE account ADD COLUMN off_boards boolean NOT NULL DEFAULT false;
CREATE INDEX account_off_boards ON account (id) WHERE off_boards;
CREATE CONSTRAINT TRIGGER account_leaves_boards AFTER UPDATE OF off_boards ON account DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION exposure_changed();
ALTER TABLE group_member ADD COLUMN off_board boolean NOT NULL DEFAULT false;
ALTER TABLE volunteer_group ADD COLUMN ranks boolean NOT NULL DEFAULT false;    -- the board orders the members by what they gave

-- How long an answer of a project takes, and so how much each of its answers is worth on leaderboards.
CREATE TABLE project_pace (
    project_id bigint PRIMARY KEY REFERENCES project ON DELETE CASCADE,
    seconds float8 NOT NULL,                            -- the median of its newest answers
    runs bigint NOT NULL                                -- how many answers there were
);

-- The first people of the leaderboards, which a periodic job counts (definitions/community/84_recognition.sql).
CREATE TABLE board_place (
    project_id bigint NOT NULL,                         -- 0: of the whole site
    week boolean NOT NULL,                              -- of this week, otherwise of all time
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    answers bigint NOT NULL,
    seconds float8 NOT NULL,
    PRIMARY KEY (project_id, week, user_id)
);
CREATE INDEX board_place_user ON board_place (user_id);

-- What somebody gave, as it was when they had it written down. Everybody with the key may read it; it ends with its row.
CREATE TABLE certificate (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    key text NOT NULL UNIQUE,                           -- cannot be guessed
    created timestamptz NOT NULL,
    name text NOT NULL,                                 -- which the person chose
    first_day date NOT NULL,
    last_day date NOT NULL,
    answers bigint NOT NULL,
    seconds float8 NOT NULL,
    n_projects int NOT NULL,
    projects jsonb NOT NULL                             -- name, answers and seconds of those that everybody may see
);
CREATE INDEX certificate_user ON certificate (user_id, id);

-- What a project asks of volunteers, as far as its questions are data: the medium that they look at first, and the sort of its questions that is most work;
-- the language of its texts, and the papers that use its results.
ALTER TABLE project
    ADD COLUMN papers jsonb GENERATED ALWAYS AS (info->'papers') STORED,
    ADD COLUMN language text GENERATED ALWAYS AS (CASE WHEN jsonb_typeof(info->'language') = 'string' THEN info->>'language' END) STORED,
    ADD COLUMN medium text GENERATED ALWAYS AS (jsonb_path_query_first(info, '$.questions.steps[*].media[*].type') #>> '{}') STORED,
    ADD COLUMN work text GENERATED ALWAYS AS (CASE
        WHEN jsonb_path_exists(info, '$.questions.steps[*].questions[*].type ? (@ == "box" || @ == "point" || @ == "count" || @ == "line" || @ == "polygon" || @ == "freehand" || @ == "text_spans" || @ == "sound_segments" || @ == "video_segments" || @ == "map_place" || @ == "map_area")') THEN 'mark'
        WHEN jsonb_path_exists(info, '$.questions.steps[*].questions[*].type ? (@ == "transcription" || @ == "long_text" || @ == "short_text")') THEN 'write'
        WHEN jsonb_path_exists(info, '$.questions.steps[*].questions[*]') THEN 'choose' END) STORED;
