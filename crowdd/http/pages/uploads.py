"""Uploaded files of projects. Files of locked projects are for people who have opened the lock."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.domain.core import uploads
from crowdd.domain.projects.file_access import FileAccess
from crowdd.errors import NotFoundError
from crowdd.http.html.presenter import upload_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, FileResponse, Response
from crowdd.http.routing import Route, get
from crowdd.http.transport import ranges
from crowdd.http.transport.request_headers import matches

_CACHED = "public, max-age=86400"
_HEADERS = {**upload_headers(), "Accept-Ranges": "bytes"}


class UploadPages:
    """/uploads/<container>/<name>."""

    def __init__(self, uploads: uploads.Uploads, file_access: FileAccess) -> None:
        self._uploads, self._access = uploads, file_access

    def routes(self) -> Iterator[Route]:
        yield get("/uploads/<container>/<name>", self.file, page=False)

    async def file(self, incoming: Incoming, container: str, name: str) -> Response:
        folder, public = await self._access.container(container, incoming.who)
        found = self._uploads.find(folder, name)
        if found is None:
            raise NotFoundError("404 Not Found")
        path, type_ = found
        stat = path.stat()
        etag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
        headers = {**_HEADERS, "ETag": etag, "Cache-Control": _CACHED if public else "private, no-cache"}
        if type_ == uploads.DOWNLOAD:
            headers["Content-Disposition"] = "attachment"
        if matches(incoming.header("if-none-match"), etag):
            return BytesResponse(b"", type_, 304, headers)
        return _part(incoming, FileResponse(path, type_, 0, stat.st_size, headers=headers), etag)


def _part(incoming: Incoming, whole: FileResponse, etag: str) -> Response:
    """The part of a file that a client asks for, or all of it."""
    if incoming.header("if-range") not in ("", etag):
        return whole
    try:
        part = ranges.wanted(incoming.header("range"), whole.end)
    except ValueError:
        return BytesResponse(b"", whole.content_type, 416, {**whole.headers, "Content-Range": f"bytes */{whole.end}"})
    if part is None:
        return whole
    headers = {**whole.headers, "Content-Range": f"bytes {part[0]}-{part[1] - 1}/{whole.end}"}
    return attrs.evolve(whole, begin=part[0], end=part[1], status=206, headers=headers)
