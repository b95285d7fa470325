-- expands: decisions of rules say of what they were made, and analyses what they say of texts and of items

-- The answers that counted when the rule was followed, and what was known of their volunteers then: see weighed_for_rules (definitions 58). Null: the
-- decision is from before this version.
ALTER TABLE rule_decision ADD COLUMN weighed_by jsonb;

-- What analyses say of texts, and of items that were compared: an array of ItemEstimate (crowdd/features/analyses/rows.py), the strongest first.
ALTER TABLE analysis_task ADD COLUMN text text;
ALTER TABLE analysis ADD COLUMN items jsonb;
