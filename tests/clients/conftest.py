"""Clients that people already have, unmodified."""

from support.clients.pbs import pbs, warm_pbs

__all__ = ["pbs", "warm_pbs"]
