"""Periodic jobs about the server itself: its clock, and the log of jobs."""
