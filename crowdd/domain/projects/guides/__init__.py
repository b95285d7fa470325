"""Guides of projects: the guided tutorial and the field guide."""
