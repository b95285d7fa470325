"""Chains: what comes out of one project becomes the tasks of the next."""
