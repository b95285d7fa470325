"""What every noun of the domain stands on: records, rights, queries, secrets, uploads, the background queue."""
