-- Names in full words: nothing is added, and nothing that owners see is renamed.

ALTER TABLE task_ledger RENAME COLUMN extra TO uncounted;
ALTER TABLE task_ledger RENAME COLUMN entered TO requeued_xid;
ALTER TABLE position RENAME COLUMN lane TO scan;
ALTER TABLE past_lease RENAME TO expired_lease;
ALTER INDEX past_lease_pkey RENAME TO expired_lease_pkey;
ALTER INDEX past_lease_skipped RENAME TO expired_lease_skipped;
ALTER INDEX past_lease_expires RENAME TO expired_lease_expires;
