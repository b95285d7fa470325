"""Snapshots that are deposited in repositories with the REST API of Zenodo."""
