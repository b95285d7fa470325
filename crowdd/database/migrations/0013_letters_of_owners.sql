-- expands: blog posts that owners send as letters to those who helped and agreed to e-mails
ALTER TABLE notice DROP CONSTRAINT notice_kind_check, ADD CONSTRAINT notice_kind_check CHECK (kind IN ('finished', 'resumed', 'post', 'letter', 'reply'));
