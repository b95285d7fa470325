"""Requests to other servers, at addresses that somebody else chose."""
