"""One site over several databases: which of them serves a request."""
