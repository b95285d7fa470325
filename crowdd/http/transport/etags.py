"""Conditional requests (RFC 9110, 13): tags of what was answered, and comparing them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from crowdd.errors import PreconditionError

_GZIP = "-gzip"
# Says how long ago something was: it differs from one second to the next and is no change.
_FLEETING = frozenset({"last_activity"})


def etag(value: Any) -> str:
    """The entity tag of a JSON value as this requester sees it."""
    if isinstance(value, Mapping):
        value = {name: inner for name, inner in value.items() if name not in _FLEETING}
    return etag_of(orjson.dumps(value))


def etag_of(text: bytes) -> str:
    """The entity tag of a JSON text."""
    return f'"{hashlib.sha256(text).hexdigest()[:32]}"'


def gzip_etag(entity_tag: str) -> str:
    """The tag of the compressed form, which is another entity."""
    return f'{entity_tag[:-1]}{_GZIP}"'


def matches(header: str, entity_tag: str) -> bool:
    """Whether an If-Match or If-None-Match header names the entity, compressed or not."""
    given = {word.strip().removeprefix("W/").replace(f'{_GZIP}"', '"') for word in header.split(",")}
    return "*" in given or entity_tag in given


def require_match(header: str, view: Mapping[str, Any]) -> None:
    """Passes when the header is empty or names what the object is now; raises PreconditionError otherwise."""
    if header and not matches(header, etag(view)):
        hint = "GET the object again and repeat the change with its new ETag."
        raise PreconditionError("The object has changed since you read it.", hint=hint)
