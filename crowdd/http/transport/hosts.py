"""The host names that requests may be sent to.

The owner of another site can have its name lead to an address where crowdd listens (DNS rebinding). Pages of that site
could then read from crowdd as from their own server. Such requests carry the name of the other site.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Self
from urllib.parse import urlsplit

import attrs

from crowdd.config import Settings

PROBES = frozenset({b"/health", b"/ready"})  # load balancers ask for them by address
_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]+)(?::[0-9]*)?")
_ABSOLUTE = re.compile(rb"https?://([^/?#]*)", re.IGNORECASE)


@lru_cache(maxsize=100)  # nearly every request names the same one
def name_of(host: bytes) -> str | None:
    """The name or address in a Host header, in lower case and without the port; None when it is malformed."""
    match = _HOST.fullmatch(host)
    return match[1].decode("ascii").lower().strip("[]").removesuffix(".") if match else None


def is_loopback(name: str) -> bool:
    """Whether a name or address always means this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


@attrs.frozen
class Hosts:
    """Decides by the Host header; ``names`` None: every name is allowed."""

    names: frozenset[str] | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The names of base_url and allowed_hosts. Without base_url all, unless the server listens on loopback only."""
        own = urlsplit(settings.http.base_url).hostname
        if own is None and not is_loopback(settings.http.host):
            return cls()
        return cls(frozenset({own or "localhost", *(name.lower() for name in settings.http.allowed_hosts)}))

    def allow(self, target: bytes, host: bytes | None, here: str) -> bool:
        """Whether a request for ``target`` may be answered that came in at our address ``here``.

        This machine's own names are allowed where the connection comes from this machine.
        """
        if self.names is None or target.partition(b"?")[0] in PROBES:
            return True
        absolute = _ABSOLUTE.match(target)
        named = [each for each in (host, absolute and absolute[1]) if each is not None]
        return all(self._known(name_of(each), here) for each in named)

    def _known(self, name: str | None, here: str) -> bool:
        if name is None or self.names is None:
            return False
        return name in self.names or (is_loopback(name) and is_loopback(here))
