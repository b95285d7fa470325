-- expands: e-mails that came back from where there is no such mailbox

ALTER TABLE mail ADD COLUMN returned boolean NOT NULL DEFAULT false;
