"""Clients that people already have, unmodified."""
