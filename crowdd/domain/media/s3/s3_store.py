"""Keeps media files in a bucket. Memory is bounded by the size of a part."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.domain.core.uploads import container_of
from crowdd.domain.media.s3.client import S3Client
from crowdd.domain.media.s3.xml_texts import texts_of
from crowdd.domain.media.store import StoredMedia, is_key, require_key, type_of
from crowdd.domain.outbound.response import Response
from crowdd.errors import MediaStoreError

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
        await self._client.request("PUT", key, headers={"Content-Type": type_}, body=body)

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
            head = await self._client.request("HEAD", key, expected=_FOUND)
            return None if head.status == 404 else self._stored(key, head, _length(head), b"")
        first = await self._client.request(
            "GET", key, headers={"Range": f"bytes=0-{PIECE - 1}"}, max_bytes=PIECE, expected=_FOUND
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
            piece = await self._client.request("GET", key, headers=headers, max_bytes=PIECE)
            if len(piece.body) != stop - begin:
                raise MediaStoreError(f"S3 sent {len(piece.body)} bytes of {key} in place of {stop - begin}.")
            yield piece.body
            begin = stop

    async def _put_parts(self, key: str, source: Path, type_: str, size: int) -> None:
        begun = await self._client.request("POST", key, [("uploads", "")], headers={"Content-Type": type_})
        upload = next(iter(texts_of(begun.body).get("InitiateMultipartUploadResult.UploadId", ())), "")
        if not upload:
            raise MediaStoreError("S3 did not start a multipart upload.")
        try:
            etags = []
            for number, begin in enumerate(range(0, size, PART), 1):
                body = await self._thread.do(_read, source, begin, PART)
                part = [("partNumber", str(number)), ("uploadId", upload)]
                done = await self._client.request("PUT", key, part, body=body)
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
        done = await self._client.request("POST", key, [("uploadId", upload)], body=body)
        if error := texts_of(done.body).get("Error.Code"):  # S3 says so with status 200
            raise MediaStoreError(f"S3 did not complete the multipart upload of {key}: {error[0][:100]}.")

    async def _give_up(self, key: str, upload: str) -> None:
        try:
            await self._client.request("DELETE", key, [("uploadId", upload)])
        except MediaStoreError:
            return  # the first error says more; the service removes what is left by its own rules

    async def _delete(self, keys: Sequence[str]) -> None:
        objects = "".join(f"<Object><Key>{escape(key)}</Key></Object>" for key in keys)
        body = f"<Delete><Quiet>true</Quiet>{objects}</Delete>".encode()
        digest = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
        done = await self._client.request("POST", "", [("delete", "")], headers={"Content-MD5": digest}, body=body)
        if error := texts_of(done.body).get("Error.Code"):
            raise MediaStoreError(f"S3 did not delete {len(error)} of {len(keys)} files: {error[0][:100]}.")

    async def _pages(self, *query: tuple[str, str]) -> AsyncIterator[Response]:
        """The pages of a list."""
        more: list[tuple[str, str]] = []
        while True:
            page = await self._client.request("GET", "", [("list-type", "2"), *query, *more])
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
