"""AWS Signature Version 4 in the headers of a request, as S3 wants it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

import attrs

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
Query = Sequence[tuple[str, str]]


@attrs.frozen
class Credentials:
    """The keys of an account, for a region."""

    access_key: str
    secret_key: str = attrs.field(repr=False)
    region: str


def encoded(text: str, safe: str = "") -> str:
    """Text in an address: everything but unreserved characters as percent signs and digits."""
    return quote(text, safe=f"-_.~{safe}")


def query_string(query: Query) -> str:
    """The parameters of an address in their canonical order."""
    return "&".join(f"{name}={value}" for name, value in sorted((encoded(n), encoded(v)) for n, v in query))


def sha256(content: bytes) -> str:
    """The digest of a body, as it is signed."""
    return hashlib.sha256(content).hexdigest()


def signed(
    credentials: Credentials,
    method: str,
    host: str,
    path: str,
    query: Query,
    headers: Mapping[str, str],
    body_sha256: str,
    now: float,
) -> dict[str, str]:
    """The headers with date, digest and signature.

    ``path`` is encoded, ``host`` has its port unless it is the usual one, ``now`` is in seconds since 1970.
    """
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    sent = {**headers, "x-amz-content-sha256": body_sha256, "x-amz-date": stamp}
    canonical = sorted((name.lower(), " ".join(value.split())) for name, value in {**sent, "host": host}.items())
    names = ";".join(name for name, _value in canonical)
    lines = [
        method,
        path,
        query_string(query),
        *(f"{name}:{value}" for name, value in canonical),
        "",
        names,
        body_sha256,
    ]
    scope = f"{stamp[:8]}/{credentials.region}/s3/aws4_request"
    words = "\n".join([_ALGORITHM, stamp, scope, sha256("\n".join(lines).encode())])
    signature = _hmac(_key(credentials, stamp[:8]), words).hex()
    authorization = f"Credential={credentials.access_key}/{scope},SignedHeaders={names},Signature={signature}"
    return {**sent, "Authorization": f"{_ALGORITHM} {authorization}"}


def _key(credentials: Credentials, day: str) -> bytes:
    key = f"AWS4{credentials.secret_key}".encode()
    for word in (day, credentials.region, "s3", "aws4_request"):
        key = _hmac(key, word)
    return key


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
