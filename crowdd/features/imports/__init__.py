"""Imports: reading files, adding rows as tasks, and addresses that are read again."""
