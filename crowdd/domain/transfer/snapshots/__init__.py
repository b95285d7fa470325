"""Snapshots of projects: files that never change, and can be cited."""
