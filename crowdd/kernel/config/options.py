"""Declare a setting, and turn its text into its value.

The functions raise ValueError or KeyError. Their docstring says what they accept, and completes the sentence
"must be ...".
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import TypeVar

import attrs

T = TypeVar("T")


Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def boolean(text: str) -> bool:
    """on or off"""
    values = {"1": True, "yes": True, "on": True, "true": True, "0": False, "no": False, "off": False, "false": False}
    return values[text.strip().lower()]


def words(text: str) -> tuple[str, ...]:
    """words, separated by spaces"""
    return tuple(text.replace(",", " ").split())


def networks(text: str) -> tuple[Network, ...]:
    """addresses or networks such as 10.0.0.0/8, separated by spaces"""
    return tuple(ipaddress.ip_network(word, strict=False) for word in words(text))


# An IPv6 address in brackets or a name, then perhaps a port; or an IPv6 address alone.
_ENDPOINT = re.compile(
    r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]*[^\[\]:.]\.?)|([0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*)(?=$))(?::([0-9]{1,5}|\*))?"
)


def endpoints(word: str) -> frozenset[tuple[str, int]]:
    """The hosts and ports of ``host:port``, ``host`` (ports 80 and 443) or ``host:*`` (port 0: every one).

    An IPv6 address with a port has brackets. Raises ValueError.
    """
    match = _ENDPOINT.fullmatch(word.lower())
    if match is None:
        raise ValueError
    address, name, port = match[1] or match[3], match[2], match[4]
    if port and port != "*" and not 0 < int(port) < 65536:
        raise ValueError
    ports = (80, 443) if not port else (0,) if port == "*" else (int(port),)
    host = str(ipaddress.IPv6Address(address)) if address else name.rstrip(".")
    return frozenset((host, number) for number in ports)


def endpoint_list(text: str) -> tuple[str, ...]:
    """hosts with ports such as hooks.internal:8080, separated by spaces"""
    hosts = words(text)
    for word in hosts:
        endpoints(word)
    return hosts


def contact(text: str) -> str:
    """an e-mail address or an https address"""
    if text and not re.fullmatch(r"https://[!-~]+|[!-9;-~]+@[!-?A-~]+", text):
        raise ValueError
    return text


def tile_address(text: str) -> str:
    """an https address with {z}, {x} and {y}"""
    address = re.fullmatch(r"https://[A-Za-z0-9.-]+(:\d{1,5})?/[^\s\"'<>]*", text)
    if text and (address is None or not all(part in text for part in ("{z}", "{x}", "{y}"))):
        raise ValueError
    return text


def map_file(text: str) -> str:
    """a file name that ends with .pmtiles, without a folder"""
    if text and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}\.pmtiles", text):
        raise ValueError
    return text


def s3_endpoint(text: str) -> str:
    """an address such as https://s3.example.org, without a path"""
    if text and not re.fullmatch(r"https?://[^\s/?#@]+/?", text):
        raise ValueError
    return text.rstrip("/")


def s3_bucket(text: str) -> str:
    """a name of letters, digits, dots, hyphens and underscores"""
    if text and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}", text):
        raise ValueError
    return text


def port(text: str) -> int:
    """a port number from 0 to 65535"""
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError
    return port


def positive(text: str) -> int:
    """a whole number above 0"""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def not_negative(text: str) -> int:
    """a whole number, 0 or more"""
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def choice(*words: str) -> Callable[[str], str]:
    """A parser that accepts one of these words."""

    def choose(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    choose.__doc__ = "one of " + ", ".join(words)
    return choose


def automatic(text: str) -> str:
    """on, off or auto"""
    return "auto" if text == "auto" else "on" if boolean(text) else "off"


def seconds(text: str) -> float:
    """a number of seconds above 0"""
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def option(default: T, parse: Callable[[str], object] = str, doc: str = "", *, fixed: bool = False) -> T:
    """A setting; one that is ``fixed`` is read at the start only, the others again at SIGHUP."""
    field: T = attrs.field(default=default, metadata={"parse": parse, "doc": doc, "fixed": fixed})
    return field
