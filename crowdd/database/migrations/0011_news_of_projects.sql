-- expands: news of projects for those who helped them, a weekly e-mail with them, and comments that are answered and shared

-- News. What a project tells all who answered in it is one row, however many they are (definitions/community/80_notices.sql).
CREATE TABLE notice (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL,                         -- without a reference, which would wait for the project under the lock of its events
    user_id bigint REFERENCES account ON DELETE CASCADE, -- for whom it is; null: for everybody who answered in the project
    kind text NOT NULL CHECK (kind IN ('finished', 'resumed', 'post', 'reply')),
    subject bigint NOT NULL,                            -- the blog post, the comment, or the number of the week: one in a week
    created timestamptz NOT NULL,
    UNIQUE (project_id, kind, subject)
);
CREATE INDEX notice_project ON notice (project_id, id) WHERE user_id IS NULL;
CREATE INDEX notice_user ON notice (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX notice_created ON notice (created);

-- Projects of which a person wants no news.
CREATE TABLE muted_project (
    user_id bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    created timestamptz NOT NULL,
    PRIMARY KEY (user_id, project_id)
);
CREATE INDEX muted_project_project ON muted_project (project_id);

-- When a person last looked at their news; when the next weekly e-mail is due (null: now), up to when the last one had the news, and the kinds
-- that it does not have.
ALTER TABLE account ADD COLUMN news_seen timestamptz, ADD COLUMN digest_due timestamptz, ADD COLUMN digest_until timestamptz,
                    ADD COLUMN digest_without text[] NOT NULL DEFAULT '{}';
CREATE INDEX account_digest ON account (digest_due NULLS FIRST, id) WHERE subscribed AND valid_email AND NOT "restrict";

-- The address that ends e-mails of this sort (RFC 8058); null: it is one that people cannot end.
ALTER TABLE mail ADD COLUMN unsubscribe text;

-- Volunteers who have answered a task read what others wrote about it afterwards.
ALTER TABLE project ADD COLUMN shared_comments boolean NOT NULL GENERATED ALWAYS AS (info @> '{"shared_comments": true}') STORED;

-- An answer to a comment. shared: those who have answered the task read it, unless it is held back (by a link, or by reports) or hidden by an
-- owner. approved: reports do not hold it back any more. gone: its author has deleted their account.
ALTER TABLE task_comment ADD COLUMN reply_to bigint REFERENCES task_comment ON DELETE CASCADE, ADD COLUMN by_owner boolean NOT NULL DEFAULT false,
                         ADD COLUMN shared boolean NOT NULL DEFAULT false,
                         ADD COLUMN state text NOT NULL DEFAULT 'shown' CHECK (state IN ('shown', 'approved', 'held', 'hidden', 'gone'));
CREATE INDEX task_comment_held ON task_comment (project_id, id) WHERE state = 'held';
CREATE INDEX task_comment_replies ON task_comment (reply_to, id) WHERE reply_to IS NOT NULL;

-- Who reported a comment, each once.
CREATE TABLE comment_report (
    comment_id bigint NOT NULL REFERENCES task_comment ON DELETE CASCADE,
    actor text NOT NULL,
    created timestamptz NOT NULL,
    PRIMARY KEY (comment_id, actor)
);
CREATE INDEX comment_report_actor ON comment_report (actor);

-- A project goes on that was paused, and a blog post is there for everybody.
CREATE FUNCTION project_resumed() RETURNS trigger LANGUAGE plpgsql SET search_path = public, code AS $$
BEGIN
    PERFORM add_notice(NEW.id, 'resumed', clock());
    RETURN NULL;
END $$;
CREATE TRIGGER project_resumes AFTER UPDATE OF published ON project FOR EACH ROW
  WHEN (NEW.published AND NOT OLD.published AND OLD.first_published IS NOT NULL) EXECUTE FUNCTION project_resumed();

CREATE FUNCTION post_shown() RETURNS trigger LANGUAGE plpgsql SET search_path = public, code AS $$
BEGIN
    -- One that was brought along from another site is no news.
    IF TG_OP = 'UPDATE' OR NEW.created > clock() - interval '1 day' THEN PERFORM add_notice(NEW.project_id, 'post', clock(), NEW.id); END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER post_is_written AFTER INSERT ON blogpost FOR EACH ROW WHEN (NEW.published) EXECUTE FUNCTION post_shown();
CREATE TRIGGER post_is_published AFTER UPDATE OF published ON blogpost FOR EACH ROW WHEN (NEW.published AND NOT OLD.published) EXECUTE FUNCTION post_shown();
