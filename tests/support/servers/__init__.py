"""Servers, databases and programs that tests start."""
