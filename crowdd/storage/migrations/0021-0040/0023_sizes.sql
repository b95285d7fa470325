-- What is stored, and what is read where many rows are shown.

-- The keys of a project's info that its cards need, without the documents, and without values that no card can use. Kept in
-- a column of its own: a list of projects then reads no presenter, however large.
CREATE FUNCTION summary_of_info(p_info jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(p_info)
 WHERE key IN ('container', 'thumbnail', 'thumbnail_url', 'sched', 'lease_seconds', 'language', 'max_answer_bytes')
   AND octet_length(value::text) <= 2000 $$;

ALTER TABLE project ADD summary_info jsonb NOT NULL GENERATED ALWAYS AS (summary_of_info(info)) STORED;

-- HTML of texts in Markdown, made when they are written. A row that is missing is made when it is read.
CREATE TABLE rendered_text (
    key text PRIMARY KEY,                        -- hash of the text, the version of the renderer and the level of headings
    html text NOT NULL,
    excerpt text NOT NULL,                       -- its first words without marks
    used date NOT NULL                           -- the last day, or nearly, on which somebody read it
);
CREATE INDEX rendered_text_used ON rendered_text (used);
