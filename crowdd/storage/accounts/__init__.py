"""Statements about accounts."""
