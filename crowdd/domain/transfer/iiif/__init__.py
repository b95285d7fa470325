"""IIIF manifests and collections (Presentation API 2 and 3): a task for each canvas."""
