"""Cross-origin requests: which pages elsewhere may read answers (Fetch standard, CORS protocol)."""

from __future__ import annotations

import attrs

_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_ASKED = (
    "Content-Type, Authorization, X-CSRFToken, X-Project-Password, X-Draft-Key, Idempotency-Key, If-Match,"
    " If-None-Match, Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum"
)
_SHOWN = (
    "ETag, Retry-After, X-No-Task, X-Held-Tasks, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset,"
    " X-RateLimit-Scope, X-Request-Id, Location, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size,"
    " Upload-Length, Upload-Offset, Upload-Expires"
)
_MAX_AGE = "21600"


@attrs.frozen
class Cors:
    """Configured origins may use cookies on every route; all others may read /api without any. Never both."""

    origins: frozenset[str]

    def headers(self, origin: str, *, is_api: bool, preflight: bool) -> dict[str, str]:
        """Headers of an answer to a page of this origin; none for ``null`` and for requests of no page."""
        if not origin or origin == "null":
            return {}
        if origin in self.origins:
            allowed = {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true"}
        elif is_api:
            allowed = {"Access-Control-Allow-Origin": "*"}
        else:
            return {}
        asked = {
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": _ASKED,
            "Access-Control-Max-Age": _MAX_AGE,
        }
        return {**allowed, **(asked if preflight else {"Access-Control-Expose-Headers": _SHOWN})}
