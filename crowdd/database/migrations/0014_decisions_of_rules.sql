-- expands: decisions of rules say of what they were made

-- The answers that counted when the rule was followed, and what was known of their volunteers then: see weighed_for_rules (definitions 58). Null: the
-- decision is from before this version.
ALTER TABLE rule_decision ADD COLUMN weighed_by jsonb;
