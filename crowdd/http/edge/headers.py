"""Headers of requests and responses: what a client asks for, entity tags, cookie names, allowed hosts, framing.

* werkzeug parses coding, format, language, conditions and cookies as RFC 9110 and RFC 6265 say. Clients send the same
  few texts again and again, so each function keeps its last results.
* A cookie name that begins with ``__Host-`` belongs to this host alone: browsers take it from nobody else, so that a
  sibling host of the same domain cannot give its visitors cookies of ours (RFC 6265bis, 4.1.3).
* Headers that are the same in every response are encoded once: in Twisted, that costs as much as a handler.
* A request's head must be such that everybody on the way agrees on where the request ends (RFC 9112).
* The owner of another site can have its name lead to an address where crowdd listens (DNS rebinding). Pages of that
  site could then read from crowdd as from their own server. Such requests carry the name of the other site.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Self, TypeVar
from urllib.parse import urlsplit

import attrs
import orjson
from twisted.web.http_headers import Headers
from werkzeug.datastructures import Accept, ETags, LanguageAccept, MIMEAccept
from werkzeug.http import parse_accept_header, parse_etags
from werkzeug.sansio.http import parse_cookie

from crowdd.kernel.config import Settings
from crowdd.kernel.errors import PreconditionError
from crowdd.kernel.languages import NAMES, SOURCE

_Accepted = TypeVar("_Accepted", bound=Accept)


GZIP: Final = "gzip"
ZSTD: Final = "zstd"
BROTLI: Final = "br"
_CODINGS: Final = (ZSTD, BROTLI, GZIP)
MAX_ACCEPT: Final = 1_000
"""Characters of an Accept header, or one like it; a longer one is as good as none: werkzeug takes long to parse it."""


@lru_cache(256)
def best_coding(accept_encoding: str, offered: tuple[str, ...]) -> str:
    """The coding of ``offered`` with the greatest weight, of equals the first; empty if ``identity`` has a greater one.

    ``*`` stands for gzip alone: programs that say so are old.
    """
    accepted = _parsed(accept_encoding, Accept)
    named = {name.lower() for name in accepted.values()}
    weights = {coding: accepted.quality(coding) for coding in offered if coding == GZIP or coding in named}
    best = max(weights, key=weights.__getitem__, default="")
    return best if best and 0 < weights[best] >= accepted.quality("identity") else ""


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether a response may be compressed with gzip."""
    return best_coding(accept_encoding, (GZIP,)) == GZIP


@lru_cache(256)
def prefers_json(accept: str) -> bool:
    """Whether an Accept header prefers JSON to HTML. Parameters of a media type (``charset``) do not count."""
    types = [(name.partition(";")[0], weight) for name, weight in _parsed(accept, Accept)]
    return MIMEAccept(types).best_match(("text/html", "application/json")) == "application/json"


@lru_cache(256)
def prefers_next(prefer: str) -> bool:
    """Whether a Prefer header (RFC 7240) asks for the next task with the stored answer."""
    return any(each.partition(";")[0].strip().lower() == "next" for each in prefer[:MAX_ACCEPT].split(","))


@lru_cache(256)
def best_language(accept_language: str) -> str:
    """Our language that an Accept-Language header prefers, English when it names none of ours."""
    return _parsed(accept_language, LanguageAccept).best_match(NAMES, SOURCE)


def _parsed(header: str, kind: type[_Accepted]) -> _Accepted:
    return parse_accept_header(header if len(header) <= MAX_ACCEPT else None, kind)


def coded_etag(entity_tag: str, coding: str = GZIP) -> str:
    """The entity tag of the compressed form of a response."""
    return f'{entity_tag[:-1]}-{coding}"'


def matches_etag(header: str, entity_tag: str) -> bool:
    """Whether an If-Match or If-None-Match header names the entity, compressed or not.

    The comparison is weak for both headers: a proxy that compresses makes our strong tags weak.
    """
    if not header or header == entity_tag:
        return bool(header)
    named, tag = _etags(header), entity_tag.strip('"')
    return named.star_tag or any(named.contains_weak(each) for each in (tag, *(f"{tag}-{c}" for c in _CODINGS)))


@lru_cache(256)
def _etags(header: str) -> ETags:
    return parse_etags(header)


@lru_cache(1024)
def cookies(header: bytes) -> Mapping[str, str]:
    """The cookies of a Cookie header, which is UTF-8. If a name occurs twice, the last value counts."""
    return MappingProxyType(dict(parse_cookie(header.decode("utf-8", "replace")).items(multi=True)))


SECURE_PREFIX = "__Host-"
# Cookies that still count under their plain names, from before the site had prefixes: somebody else's do no harm.
MOVABLE = frozenset({"volunteer", "device", "unlocked", "theme", "language"})


def find_cookie(prefix: str, name: str, cookies: Mapping[str, str]) -> str | None:
    """The value of a cookie among those that a browser sent, which have full names."""
    value = cookies.get(prefix + name)
    return cookies.get(name) if value is None and prefix and name in MOVABLE else value


def is_old_cookie(prefix: str, name: str, cookies: Mapping[str, str]) -> bool:
    """Whether a browser has a cookie under its plain name only."""
    return bool(prefix) and name in cookies and prefix + name not in cookies


# Says how long ago something was: it differs from one second to the next and is no change.
_FLEETING = frozenset({"last_activity"})


def etag(value: object) -> str:
    """The entity tag of a JSON value as this requester sees it."""
    if isinstance(value, Mapping):
        value = {name: inner for name, inner in value.items() if name not in _FLEETING}
    return etag_of(orjson.dumps(value))


def etag_of(text: bytes) -> str:
    """The entity tag of a JSON text."""
    return f'"{hashlib.sha256(text).hexdigest()[:32]}"'


def require_match(header: str, view: Mapping[str, object]) -> None:
    """Passes when the header is empty or names what the object is now; raises PreconditionError otherwise."""
    if header and not matches_etag(header, etag(view)):
        hint = "GET the object again and repeat the change with its new ETag."
        raise PreconditionError("The object has changed since you read it.", hint=hint)


EncodedHeaders = tuple[tuple[bytes, bytes], ...]


def encode(headers: Mapping[str, str]) -> EncodedHeaders:
    """The headers for ``set_headers``: names and values as Twisted sends them."""
    made = Headers({name: [value] for name, value in headers.items()})
    return tuple((name, values[0]) for name, values in made.getAllRawHeaders())


def set_headers(headers: Headers, headers_block: EncodedHeaders) -> None:
    """Set encoded headers, and replace other values of the same names."""
    raw = headers._rawHeaders  # its own setter encodes name and value, and looks for line breaks, each time
    for name, value in headers_block:
        raw[name] = [value]


def add_headers(headers: Headers, lines: Iterable[tuple[bytes, bytes]]) -> None:
    """Add names and values as they came. Values have no line breaks."""
    raw = headers._rawHeaders
    for name, value in lines:
        raw.setdefault(_as_twisted_writes(name), []).append(value)


@lru_cache(100)
def _as_twisted_writes(name: bytes) -> bytes:
    ((known, _),) = Headers({name: [b""]}).getAllRawHeaders()
    return bytes(known)


def values_of(headers: Headers, name: bytes) -> Sequence[bytes]:
    """The values of a header; ``name`` as Twisted writes it."""
    return headers._rawHeaders.get(name, ())


def head_text(version: bytes, code: bytes, reason: bytes, headers: Headers) -> bytes:
    """The head of a response."""
    lines = [b"%b %b %b\r\n" % (version, code, reason)]
    lines += [b"%b: %b\r\n" % (name, value) for name, values in headers._rawHeaders.items() for value in values]
    lines.append(b"\r\n")
    return b"".join(lines)


PROBES = frozenset({b"/health", b"/ready"})  # load balancers ask for them by address
_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]+)(?::[0-9]*)?")
_ABSOLUTE = re.compile(rb"https?://([^/?#]*)", re.IGNORECASE)


@lru_cache(maxsize=100)  # nearly every request names the same one
def host_of(host: bytes) -> str | None:
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
        absolute = None if target.startswith(b"/") else _ABSOLUTE.match(target)
        if absolute is not None and not self._known(host_of(absolute[1]), here):
            return False
        return host is None or self._known(host_of(host), here)

    def _known(self, name: str | None, here: str) -> bool:
        if name is None or self.names is None:
            return False
        return name in self.names or (is_loopback(name) and is_loopback(here))


_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# No way to write the same text matches twice, so that looking is linear.
_PLAIN = re.compile(rb"(GET|HEAD|POST) ([\x21-\x7e]+) HTTP/1\.1\r\n((?:%b:[^\x00\r\n]*\r\n){1,60})\r\n" % _TOKEN)
_MAX_PLAIN, _MAX_PLAIN_BODY = 8192, 16_384  # bytes
_OF_BODIES = re.compile(rb"(?:^|\n)(content-length|transfer-encoding|expect):([^\r]*)", re.IGNORECASE)


@attrs.frozen
class PlainHead:
    """A request: method, target, names and values of headers in their order, and the body."""

    method: bytes
    target: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes


def plain_head(data: bytes) -> PlainHead | None:
    """What ``data`` says if it is one whole request, beyond doubt, and nothing else; otherwise None.

    GET and HEAD have no body here, POST has a short one whose length its head says.
    """
    end = data.find(b"\r\n\r\n", 0, _MAX_PLAIN) + 4
    match = _PLAIN.fullmatch(data, 0, end) if len(data) <= end + _MAX_PLAIN_BODY else None
    if match is None:
        return None
    of_body: list[tuple[bytes, bytes]] = _OF_BODIES.findall(match[3])
    if of_body and (match[1] != b"POST" or len(of_body) > 1 or of_body[0][0].lower() != b"content-length"):
        return None
    length = of_body[0][1].strip(b" \t") if of_body else b""
    known = length.isdigit() and len(length) < 9 and int(length) > 0 if match[1] == b"POST" else not length
    if not known or len(data) - end != int(length or 0):
        return None
    lines = [line.split(b":", 1) for line in match[3].split(b"\r\n")[:-1]]
    return PlainHead(match[1], match[2], [(name, value.strip(b" \t")) for name, value in lines], data[end:])


def head_error(version: bytes, hosts: Sequence[bytes], codings: Sequence[bytes]) -> str:
    """What is wrong with the values of Host and Transfer-Encoding, "" when nothing is."""
    if len(hosts) > 1:
        return "The request has more than one Host header."
    if not hosts and version == b"HTTP/1.1":
        return "The Host header is missing."
    if hosts and host_of(hosts[0]) is None:
        return "The Host header is malformed."
    if codings and version != b"HTTP/1.1":
        return "Transfer-Encoding needs HTTP/1.1."
    if codings and [coding.lower() for coding in codings] != [b"chunked"]:
        return "Transfer-Encoding must be chunked, once."
    return ""
