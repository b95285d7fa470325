"""Batches of media: files that owners bring, each of which becomes a task."""
