-- Where owners have not chosen, volunteers get fewer gold tasks in the long run (crowdd/kinds/gold_shares.py).
ALTER TABLE project_ledger ALTER gold_rate SET DEFAULT 0.03;
UPDATE project_ledger l SET gold_rate = 0.03 FROM project p WHERE p.id = l.project_id AND NOT p.info ? 'gold_rate';
