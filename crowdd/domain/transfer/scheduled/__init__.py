"""Addresses that are read again on a schedule."""
