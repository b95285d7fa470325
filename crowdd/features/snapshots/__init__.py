"""Snapshots: what is in them, packaging, differences, verification and deposits."""
