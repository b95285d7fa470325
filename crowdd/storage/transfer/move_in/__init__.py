"""Statements that move a PyBossa database in: reading it, and writing its rows with their ids."""
