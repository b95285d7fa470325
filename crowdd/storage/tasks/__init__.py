"""Statements about tasks and their answers."""
