"""REST of all kinds, and the OpenAPI document."""
