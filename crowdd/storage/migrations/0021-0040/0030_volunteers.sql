-- Every answer says whose it is, and a word names one volunteer of a project.

-- Answers beyond the share of their network were stored without a word.
INSERT INTO volunteer_word (project_id, actor, word)
SELECT project_id, actor, right(replace(gen_random_uuid()::text, '-', ''), 15)
  FROM (SELECT DISTINCT project_id, actor FROM task_run) r ON CONFLICT DO NOTHING;

-- Where answers changed hands both had the same word. It stays with those to whom the answers went.
UPDATE volunteer_word SET word = right(replace(gen_random_uuid()::text, '-', ''), 15)
 WHERE (project_id, actor) IN (
    SELECT project_id, actor FROM (
        SELECT project_id, actor, row_number() OVER (PARTITION BY project_id, word ORDER BY position(left(actor, 1) IN 'iuxc'), actor) AS nth
          FROM volunteer_word) w WHERE nth > 1);

CREATE UNIQUE INDEX volunteer_word_word ON volunteer_word (word, project_id);
