"""Entity tags of JSON responses, and the condition If-Match (RFC 9110, 13)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import orjson

from crowdd.errors import PreconditionError
from crowdd.http.transport.request_headers import matches

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
    if header and not matches(header, etag(view)):
        hint = "GET the object again and repeat the change with its new ETag."
        raise PreconditionError("The object has changed since you read it.", hint=hint)
