"""Analyses of answers: what they read, and what they found."""
