"""Connections to PostgreSQL: the pool, transactions, NOTIFY, locks of processes."""
