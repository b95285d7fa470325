"""Periodic jobs about the audit log."""
