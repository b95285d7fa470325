"""Servers of others, as tests need them."""
