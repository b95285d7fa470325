"""Addresses of clients: what a connection says, or what a trusted proxy says of it."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from twisted.web.http import Request

from crowdd.http.edge.headers import values_of
from crowdd.kernel.config import Settings
from crowdd.kernel.config.options import Network

_LOCAL = "127.0.0.1"  # a client on a unix socket: a proxy of this machine


def client_address(request: Request, settings: Settings) -> str:
    """The address of the client: what the connection says, or what a trusted proxy says of it.

    X-Forwarded-For is read from its end. Trusted proxies are skipped, and the first other address is the client.
    Reading stops at a word that is not an address, because anybody can have sent what comes before it.
    """
    here = getattr(request.getClientAddress(), "host", None) or _LOCAL
    lines = values_of(request.requestHeaders, b"X-Forwarded-For")
    return _first_foreign(here, b",".join(lines), settings.http.trusted_proxies) if lines else here


@lru_cache(maxsize=2000)
def _first_foreign(here: str, hops: bytes, proxies: tuple[Network, ...]) -> str:
    for word in reversed(hops.decode("ascii", "replace").split(",")):
        hop = _without_port(word.strip())
        if not is_trusted(here, proxies) or not _parsed(hop):
            break
        here = hop
    return here


def _without_port(word: str) -> str:
    """The address of ``10.0.0.1:80`` or ``[2001:db8::1]:80``, as some proxies write it."""
    if word.startswith("["):
        return word[1:].partition("]")[0]
    return word.partition(":")[0] if word.count(":") == 1 else word


@lru_cache(maxsize=2000)  # who is at it, not who ever came
def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None


@lru_cache(maxsize=1000)
def is_trusted(address: str, proxies: tuple[Network, ...]) -> bool:
    """Whether a connection comes from a proxy whose X-Forwarded-For is believed."""
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in proxies)
