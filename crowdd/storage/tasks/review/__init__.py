"""Statements about review: the queue, decisions, reviewers, and what is known of volunteers."""
