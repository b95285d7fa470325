"""Mail: e-mails are rows, written by the transaction that has a reason for them, and delivered by a job."""
