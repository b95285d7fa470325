"""Presenters to begin with."""
