"""Statements about the server as a whole: jobs, recounts, retention, dumps."""
