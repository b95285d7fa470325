"""What the headers of a request ask for: coding, format, language, conditions and cookies.

werkzeug parses them as RFC 9110 and RFC 6265 say. Clients send the same few texts again and again, so each function
keeps its last results.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeVar

from werkzeug.datastructures import Accept, ETags, LanguageAccept, MIMEAccept
from werkzeug.http import parse_accept_header, parse_etags
from werkzeug.sansio.http import parse_cookie

from crowdd.languages import NAMES, SOURCE

GZIP: Final = "gzip"
ZSTD: Final = "zstd"
BROTLI: Final = "br"
_CODINGS: Final = (ZSTD, BROTLI, GZIP)
MAX_ACCEPT: Final = 1_000
"""Characters of an Accept header, or one like it; a longer one is as good as none: werkzeug takes long to parse it."""
_Accepted = TypeVar("_Accepted", bound=Accept)


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
def best_language(accept_language: str) -> str:
    """Our language that an Accept-Language header prefers, English when it names none of ours."""
    return _parsed(accept_language, LanguageAccept).best_match(NAMES, SOURCE)


def _parsed(header: str, kind: type[_Accepted]) -> _Accepted:
    return parse_accept_header(header if len(header) <= MAX_ACCEPT else None, kind)


def coded_etag(entity_tag: str, coding: str = GZIP) -> str:
    """The entity tag of the compressed form of a response."""
    return f'{entity_tag[:-1]}-{coding}"'


def matches(header: str, entity_tag: str) -> bool:
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
