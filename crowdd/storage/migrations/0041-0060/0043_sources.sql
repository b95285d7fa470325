-- Imports read workbooks.

ALTER TABLE task_import
    ADD sheets jsonb NOT NULL DEFAULT '[]';             -- of a workbook: name, hidden, chosen each
