"""Running the server: doctor, backups, keys, the audit chain, metrics and commands."""
