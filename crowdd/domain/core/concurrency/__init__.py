"""Batching, worker threads and limits on how much runs at the same time."""
