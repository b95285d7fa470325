"""Backups of a server at work, of a large site and to a moment, brought back."""
