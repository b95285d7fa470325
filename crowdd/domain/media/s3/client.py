"""Requests to an S3-compatible service: signed, bounded in time, and repeated after faults that pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from twisted.internet.task import deferLater
from twisted.logger import Logger

from crowdd.concurrency.back_off import back_off
from crowdd.config.media import MediaSettings
from crowdd.domain.media.s3.signing import Credentials, Query, encoded, query_string, sha256, signed
from crowdd.domain.media.s3.xml_texts import texts_of
from crowdd.domain.outbound.client import Outgoing, Resolve
from crowdd.domain.outbound.response import Response
from crowdd.errors import MediaStoreError, RefusedTargetError, UnreachableError
from crowdd.reactor import IReactor, epoch_seconds

log = Logger()
SECONDS: Final = 60.0  # for one request with its body
ATTEMPTS: Final = 4
_MAX_DOCUMENT: Final = 4_000_000  # bytes of a list of a thousand files
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
_EXPLAINED: Final[Mapping[str, str]] = {
    "InvalidAccessKeyId": "The access key is unknown there. Check [media] s3_access_key.",
    "SignatureDoesNotMatch": "The signature does not match. Check [media] s3_secret_key.",
    "AccessDenied": "The access key may not do this. It needs to list the bucket, and to read, write and delete in it.",
    "NoSuchBucket": "The bucket does not exist. Create it, or correct [media] s3_bucket.",
    "PermanentRedirect": "The bucket is in another region. Check [media] s3_endpoint and s3_region.",
    "AuthorizationHeaderMalformed": "The bucket is in another region. Check [media] s3_region.",
    "RequestTimeTooSkewed": "The clocks of this machine and of the service differ. Synchronise them.",
}


class S3Client:
    """Asks one service about one bucket.

    The operator named its address, so it may be a private one; nothing that it redirects to is asked.
    """

    def __init__(
        self, reactor: IReactor, settings: MediaSettings, secret_key: str, resolve: Resolve | None = None
    ) -> None:
        parts = urlsplit(settings.s3_endpoint)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        self._reactor, self._endpoint = reactor, settings.s3_endpoint
        self._outgoing = Outgoing(reactor, [f"{host}:{port}"], resolve)
        self._bucket = settings.s3_bucket
        self._credentials = Credentials(settings.s3_access_key, secret_key, settings.s3_region)

    async def request(
        self,
        method: str,
        key: str = "",
        query: Query = (),
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        max_bytes: int = _MAX_DOCUMENT,
        expected: frozenset[int] = frozenset({200, 204, 206}),
    ) -> Response:
        """The answer about a key, or about the bucket. Raises MediaStoreError for a status that is not expected.

        A missing key is 404; a missing bucket is always an error.
        """
        path = f"/{encoded(self._bucket)}" + (f"/{encoded(key, '/')}" if key else "")
        digest = sha256(body)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = await self._once(method, path, query, headers or {}, body, digest, max_bytes)
            except RefusedTargetError as error:
                raise self._error(str(error)) from error
            except UnreachableError as error:
                if attempt == ATTEMPTS:
                    raise self._error(str(error)) from error
            else:
                if response.status in expected and not _lacks_bucket(response):
                    return response
                if response.status not in _PASSING or attempt == ATTEMPTS:
                    raise self._error(_explained(method, response))
            await deferLater(self._reactor, back_off(attempt, 0.2, 4.0, 5.0))
        raise AssertionError("unreachable")

    async def _once(
        self, method: str, path: str, query: Query, headers: Mapping[str, str], body: bytes, digest: str, max_bytes: int
    ) -> Response:
        url = f"{self._endpoint}{path}" + (f"?{query_string(query)}" if query else "")
        host = urlsplit(self._outgoing.target(url).url).netloc
        sent = signed(self._credentials, method, host, path, query, headers, digest, epoch_seconds(self._reactor))
        content = body if method in ("PUT", "POST") else None
        return await self._outgoing.request(method, url, sent, content, seconds=SECONDS, max_bytes=max_bytes)

    def _error(self, reason: str) -> MediaStoreError:
        error = MediaStoreError(f"S3 at {self._endpoint}, bucket {self._bucket}: {reason}")
        log.warn("media store failed: {reason}", reason=error.reason)
        return error


def _lacks_bucket(response: Response) -> bool:
    return response.status == 404 and _code(response) == "NoSuchBucket"


def _code(response: Response) -> str:
    return next(iter(texts_of(response.body).get("Error.Code", ())), "")


def _explained(method: str, response: Response) -> str:
    code = _code(response)
    if 300 <= response.status < 400 and code not in _EXPLAINED:
        return f"It redirects ({response.status}). Check [media] s3_endpoint and s3_region."
    return _EXPLAINED.get(code) or f"{method} failed with status {response.status} {code[:100]}".rstrip() + "."
