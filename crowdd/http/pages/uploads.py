"""Uploads: pictures and sounds of projects, for pages and presenters alike; of locked ones for those with the lock."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain import uploads
from crowdd.domain.domain import Domain
from crowdd.errors import NotFoundError
from crowdd.http.answers import Answer, Raw
from crowdd.http.incoming import Incoming
from crowdd.http.presenter import upload_headers
from crowdd.http.routing import Route, get

_CACHED = "public, max-age=86400"


class Uploads:
    """/uploads/<container>/<name>."""

    def __init__(self, domain: Domain) -> None:
        self._uploads, self._access = domain.uploads, domain.file_access

    def routes(self) -> Iterator[Route]:
        yield get("/uploads/<container>/<name>", self.file, page=False)

    async def file(self, incoming: Incoming, container: str, name: str) -> Answer:
        folder, public = await self._access.container(container, incoming.who)
        found = self._uploads.find(folder, name)
        if found is None:
            raise NotFoundError("404 Not Found")
        path, type_ = found
        stat = path.stat()
        etag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
        headers = {**upload_headers(), "ETag": etag, "Cache-Control": _CACHED if public else "private, no-cache"}
        if type_ == uploads.DOWNLOAD:
            headers["Content-Disposition"] = "attachment"
        if incoming.header("if-none-match") == etag:
            return Raw(b"", type_, 304, headers)
        return Raw(path.read_bytes(), type_, headers=headers)
