"""Names of cookies under https.

A name that begins with ``__Host-`` belongs to this host alone: browsers take it from nobody else, so that a sibling
host of the same domain cannot give its visitors cookies of ours (RFC 6265bis, 4.1.3).
"""

from __future__ import annotations

from collections.abc import Mapping

SECURE_PREFIX = "__Host-"
# Cookies that still count under their plain names, from before the site had prefixes: somebody else's do no harm.
MOVABLE = frozenset({"volunteer", "device", "unlocked", "theme", "language"})


def found(prefix: str, name: str, cookies: Mapping[str, str]) -> str | None:
    """The value of a cookie among those that a browser sent, which have full names."""
    value = cookies.get(prefix + name)
    return cookies.get(name) if value is None and prefix and name in MOVABLE else value


def is_old(prefix: str, name: str, cookies: Mapping[str, str]) -> bool:
    """Whether a browser has a cookie under its plain name only."""
    return bool(prefix) and name in cookies and prefix + name not in cookies
