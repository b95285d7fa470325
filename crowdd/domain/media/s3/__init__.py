"""Media files in a bucket of an S3-compatible service."""
