"""Limits on requests: rate, body size, fair share, memory."""
