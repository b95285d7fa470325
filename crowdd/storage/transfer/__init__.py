"""Statements about imports and exports."""
