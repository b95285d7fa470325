"""Broken code, broken files, and requests from the OpenAPI document."""
