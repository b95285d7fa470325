"""Store media files in an S3 bucket: the store, the client with signed requests (AWS Signature 4), and XML answers.

Memory is bounded by the size of a part. Requests are bounded in time and repeated after faults that pass.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit
from xml.parsers import expat
from xml.sax.saxutils import escape

import attrs
from twisted.internet.task import deferLater
from twisted.logger import Logger

from crowdd.core.outbound.client import Outgoing, Resolve, Response
from crowdd.core.uploads import container_of
from crowdd.features.media.store import StoredMedia, is_key, require_key, type_of
from crowdd.kernel.concurrency.timing import back_off
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config.data import MediaSettings
from crowdd.kernel.errors import MediaStoreError, RefusedTargetError, UnreachableError
from crowdd.kernel.reactor import IReactor, epoch_seconds

log = Logger()


_ALGORITHM: Final = "AWS4-HMAC-SHA256"
Query = Sequence[tuple[str, str]]


@attrs.frozen
class Credentials:
    """The keys of an account, for a region."""

    access_key: str
    secret_key: str = attrs.field(repr=False)
    region: str


def percent_encode(text: str, safe: str = "") -> str:
    """Text in an address: everything but unreserved characters as percent signs and digits."""
    return quote(text, safe=f"-_.~{safe}")


def query_string(query: Query) -> str:
    """The parameters of an address in their canonical order."""
    return "&".join(
        f"{name}={value}" for name, value in sorted((percent_encode(n), percent_encode(v)) for n, v in query)
    )


def sha256(content: bytes) -> str:
    """The digest of a body, as it is signed."""
    return hashlib.sha256(content).hexdigest()


@attrs.frozen
class Asked:
    """What is asked about a key, or about the bucket."""

    method: str
    key: str = ""
    query: Query = ()
    headers: Mapping[str, str] = attrs.field(factory=dict)
    body: bytes = b""


def sign_headers(credentials: Credentials, asked: Asked, host: str, path: str, now: float) -> dict[str, str]:
    """The headers with date, digest and signature.

    ``path`` is encoded, ``host`` has its port unless it is the usual one, ``now`` is in seconds since 1970.
    """
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    body_sha256 = sha256(asked.body)
    sent = {**asked.headers, "x-amz-content-sha256": body_sha256, "x-amz-date": stamp}
    canonical = sorted((name.lower(), " ".join(value.split())) for name, value in {**sent, "host": host}.items())
    names = ";".join(name for name, _value in canonical)
    lines = [
        asked.method,
        path,
        query_string(asked.query),
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


_MAX_TEXT = 5000


def texts_of(content: bytes) -> Mapping[str, Sequence[str]]:
    """The texts of elements without children, in their order. An empty mapping for what is no XML, or has entities.

    ``Contents.Key`` is the name of ``<Contents><Key>``: an element with the one around it.
    """
    texts, path, text = defaultdict[str, list[str]](list), [""], [""]
    parser = expat.ParserCreate()

    def begin(name: str, _attributes: object) -> None:
        path.append(name.rpartition(":")[2])
        text[0] = ""

    def data(some: str) -> None:
        text[0] = (text[0] + some)[:_MAX_TEXT]

    def end(_name: str) -> None:
        name = path.pop()
        texts[f"{path[-1]}.{name}"].append(text[0])
        text[0] = ""

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, data
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError):
        return {}
    return texts


def _refuse(*_declaration: object) -> None:
    raise ValueError("entity")


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
        asked: Asked,
        *,
        max_bytes: int = _MAX_DOCUMENT,
        expected: frozenset[int] = frozenset({200, 204, 206}),
    ) -> Response:
        """The answer. Raises MediaStoreError for a status that is not expected.

        A missing key is 404; a missing bucket is always an error.
        """
        path = f"/{percent_encode(self._bucket)}" + (f"/{percent_encode(asked.key, '/')}" if asked.key else "")
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = await self._once(asked, path, max_bytes)
            except RefusedTargetError as error:
                raise self._error(str(error)) from error
            except UnreachableError as error:
                if attempt == ATTEMPTS:
                    raise self._error(str(error)) from error
            else:
                if response.status in expected and not _lacks_bucket(response):
                    return response
                if response.status not in _PASSING or attempt == ATTEMPTS:
                    raise self._error(_explained(asked.method, response))
            await deferLater(self._reactor, back_off(attempt, 0.2, 4.0, 5.0))
        raise AssertionError("unreachable")

    async def _once(self, asked: Asked, path: str, max_bytes: int) -> Response:
        url = f"{self._endpoint}{path}" + (f"?{query_string(asked.query)}" if asked.query else "")
        host = urlsplit(self._outgoing.target(url).url).netloc
        sent = sign_headers(self._credentials, asked, host, path, epoch_seconds(self._reactor))
        content = asked.body if asked.method in ("PUT", "POST") else None
        return await self._outgoing.request(asked.method, url, sent, content, seconds=SECONDS, max_bytes=max_bytes)

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


PIECE: Final = 512 * 1024  # bytes that are read at once
PART: Final = 8 * 1024 * 1024  # bytes that are written at once; S3 takes 10,000 parts of 5 MB or more
_MAX_DELETED: Final = 1000  # keys in one request
_PROJECT: Final = re.compile(r"project-(\d{1,18})/")
_RANGE: Final = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_FOUND: Final = frozenset({200, 206, 404, 416})


class S3Store:
    """``MediaStore`` in a bucket. ``worker_thread`` reads the files that are stored."""

    def __init__(self, client: S3Client, worker_thread: WorkerThread) -> None:
        self._client, self._thread = client, worker_thread

    async def put(self, key: str, source: Path, type_: str) -> None:
        """As ``MediaStore.put``."""
        require_key(key)
        try:
            size = source.stat().st_size
            if size > PART:
                await self._put_parts(key, source, type_, size)
                return
            body = await self._thread.do(_read, source, 0, PART)
        except OSError as error:
            raise MediaStoreError(f"Cannot read {source.name}: {error.strerror or error}.") from error
        await self._client.request(Asked("PUT", key, headers={"Content-Type": type_}, body=body))

    async def delete(self, keys: Iterable[str]) -> None:
        """As ``MediaStore.delete``."""
        wanted = [require_key(key) for key in keys]
        for at in range(0, len(wanted), _MAX_DELETED):
            await self._delete(wanted[at : at + _MAX_DELETED])

    async def open(self, key: str, *, content: bool = True) -> StoredMedia | None:
        """As ``MediaStore.open``. The first piece is read at once where the content is wanted."""
        if not is_key(key):
            return None
        if not content:
            head = await self._client.request(Asked("HEAD", key), expected=_FOUND)
            return None if head.status == 404 else self._stored(key, head, _length(head), b"")
        first = await self._client.request(
            Asked("GET", key, headers={"Range": f"bytes=0-{PIECE - 1}"}), max_bytes=PIECE, expected=_FOUND
        )
        if first.status == 404:
            return None
        if first.status == 416:  # an empty file has no first byte
            return await self.open(key, content=False)
        size = _total(first)
        if len(first.body) != min(size, PIECE):
            raise MediaStoreError(f"S3 sent only a part of {key}.")
        return self._stored(key, first, size, first.body)

    async def size(self, key: str) -> int | None:
        """As ``MediaStore.size``."""
        stored_media = await self.open(key, content=False)
        return None if stored_media is None else stored_media.size

    async def keys(self, project_id: int) -> AsyncIterator[tuple[str, int]]:
        """As ``MediaStore.keys``."""
        async for page in self._pages(("prefix", f"{container_of(project_id)}/")):
            texts = texts_of(page.body)
            for key, size in zip(texts.get("Contents.Key", ()), texts.get("Contents.Size", ()), strict=True):
                if is_key(key):
                    yield key, int(size)

    async def projects(self) -> AsyncIterator[int]:
        """As ``MediaStore.projects``."""
        async for page in self._pages(("prefix", "project-"), ("delimiter", "/")):
            for prefix in texts_of(page.body).get("CommonPrefixes.Prefix", ()):
                if match := _PROJECT.fullmatch(prefix):
                    yield int(match[1])

    def _stored(self, key: str, response: Response, size: int, first: bytes) -> StoredMedia:
        etag = response.headers.get("etag", "")
        return StoredMedia(size, type_of(key), etag, pieces=partial(self._pieces, key, etag, first))

    async def _pieces(self, key: str, etag: str, first: bytes, begin: int, end: int) -> AsyncGenerator[bytes, None]:
        """Bytes from ``begin`` to ``end``. Each piece is a request, so that nothing is held for a slow reader."""
        if begin < min(end, len(first)):
            yield first[begin:end]
            begin = len(first)
        while begin < end:
            stop = min(end, begin + PIECE)
            headers = {"Range": f"bytes={begin}-{stop - 1}"} | ({"If-Match": etag} if etag else {})
            piece = await self._client.request(Asked("GET", key, headers=headers), max_bytes=PIECE)
            if len(piece.body) != stop - begin:
                raise MediaStoreError(f"S3 sent {len(piece.body)} bytes of {key} in place of {stop - begin}.")
            yield piece.body
            begin = stop

    async def _put_parts(self, key: str, source: Path, type_: str, size: int) -> None:
        begun = await self._client.request(Asked("POST", key, [("uploads", "")], {"Content-Type": type_}))
        upload = next(iter(texts_of(begun.body).get("InitiateMultipartUploadResult.UploadId", ())), "")
        if not upload:
            raise MediaStoreError("S3 did not start a multipart upload.")
        try:
            etags = []
            for number, begin in enumerate(range(0, size, PART), 1):
                body = await self._thread.do(_read, source, begin, PART)
                part = [("partNumber", str(number)), ("uploadId", upload)]
                done = await self._client.request(Asked("PUT", key, part, body=body))
                etags.append(done.headers.get("etag", ""))
            await self._complete(key, upload, etags)
        except BaseException:
            await self._give_up(key, upload)
            raise

    async def _complete(self, key: str, upload: str, etags: Sequence[str]) -> None:
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(etag)}</ETag></Part>"
            for number, etag in enumerate(etags, 1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        done = await self._client.request(Asked("POST", key, [("uploadId", upload)], body=body))
        if error := texts_of(done.body).get("Error.Code"):  # S3 says so with status 200
            raise MediaStoreError(f"S3 did not complete the multipart upload of {key}: {error[0][:100]}.")

    async def _give_up(self, key: str, upload: str) -> None:
        try:
            await self._client.request(Asked("DELETE", key, [("uploadId", upload)]))
        except MediaStoreError:
            return  # the first error says more; the service removes what is left by its own rules

    async def _delete(self, keys: Sequence[str]) -> None:
        objects = "".join(f"<Object><Key>{escape(key)}</Key></Object>" for key in keys)
        body = f"<Delete><Quiet>true</Quiet>{objects}</Delete>".encode()
        digest = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
        done = await self._client.request(Asked("POST", "", [("delete", "")], {"Content-MD5": digest}, body))
        if error := texts_of(done.body).get("Error.Code"):
            raise MediaStoreError(f"S3 did not delete {len(error)} of {len(keys)} files: {error[0][:100]}.")

    async def _pages(self, *query: tuple[str, str]) -> AsyncIterator[Response]:
        """The pages of a list."""
        more: list[tuple[str, str]] = []
        while True:
            page = await self._client.request(Asked("GET", "", [("list-type", "2"), *query, *more]))
            yield page
            token = texts_of(page.body).get("ListBucketResult.NextContinuationToken")
            if not token:
                return
            more = [("continuation-token", token[0])]


def _read(source: Path, begin: int, size: int) -> bytes:
    with source.open("rb") as file:
        file.seek(begin)
        return file.read(size)


def _length(response: Response) -> int:
    length = response.headers.get("content-length", "")
    if not length.isdigit():
        raise MediaStoreError("S3 did not send the length of a file.")
    return int(length)


def _total(response: Response) -> int:
    """The bytes of the whole file, of which this is the beginning."""
    if response.status == 200 and response.whole:
        return len(response.body)
    match = _RANGE.fullmatch(response.headers.get("content-range", ""))
    if match is None or match[1] != "0":
        raise MediaStoreError("S3 did not send the range of a part of a file.")
    return int(match[3])
