"""crowdd: a crowdsourcing server."""

__version__ = "0.1.0"
