"""Statements that every noun shares: rows of any kind, lists, roles, the queue, logs."""
