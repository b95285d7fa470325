"""Periodic jobs about files: imports, exports and addresses that are read again."""
