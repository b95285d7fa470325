-- The key of answers by which they are compared (info.answer_key), beside the wide column that holds the presenter.
ALTER TABLE project
    ADD COLUMN answer_key text GENERATED ALWAYS AS (CASE WHEN jsonb_typeof(info->'answer_key') = 'string' THEN nullif(info->>'answer_key', '') END) STORED;
