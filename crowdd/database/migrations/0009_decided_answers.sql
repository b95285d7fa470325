-- expands: experts decide a whole answer, of questions of every type

-- What an expert says at the questions of a project (reason expert), as volunteers answer them; null: they chose a class. What the result says
-- at each answer field follows from it (definitions/review/55_decided_answers.sql).
ALTER TABLE result ADD COLUMN decided jsonb;
