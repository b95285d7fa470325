"""Uploaded files and media of projects. Files of locked projects are for people who have opened the lock."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from crowdd.domain.core import uploads
from crowdd.domain.media.store import SNAPSHOT, MediaStore, StoredMedia
from crowdd.domain.projects.file_access import FileAccess
from crowdd.errors import NotFoundError
from crowdd.http import partial_content
from crowdd.http.html.presenter import upload_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import FileResponse, PiecesResponse, Response
from crowdd.http.routing import Route, get

_CACHED = "public, max-age=86400"


class UploadPages:
    """/uploads/<container>/<name>."""

    def __init__(self, uploads: uploads.Uploads, media: MediaStore, file_access: FileAccess) -> None:
        self._uploads, self._media, self._access = uploads, media, file_access

    def routes(self) -> Iterator[Route]:
        yield get("/uploads/<container>/<name>", self.file, page=False)

    async def file(self, incoming: Incoming, container: str, name: str) -> Response:
        if name.endswith(SNAPSHOT):
            raise NotFoundError("404 Not Found")
        folder, public = await self._access.container(container, incoming.who)
        media = await self._found(incoming, folder, name)
        if media is None:
            raise NotFoundError("404 Not Found")
        headers = {**upload_headers(), "Cache-Control": _CACHED if public else "private, no-cache"}
        if media.type == uploads.DOWNLOAD:
            headers["Content-Disposition"] = "attachment"
        return partial_content.answered(incoming, media.etag, media.size, media.type, headers, partial(_sent, media))

    async def _found(self, incoming: Incoming, folder: str, name: str) -> StoredMedia | None:
        """A file of this machine, or one that the store of media has elsewhere."""
        here = self._uploads.find(folder, name)
        if here is None:
            partly = any(incoming.header(name) for name in ("range", "if-none-match"))
            return await self._media.open(f"{folder}/{name}", content=incoming.method == "GET" and not partly)
        path, type_ = here
        stat = path.stat()
        return StoredMedia(stat.st_size, type_, f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"', path)


def _sent(media: StoredMedia, begin: int, end: int, status: int, headers: dict[str, str]) -> Response:
    if media.path is not None:
        return FileResponse(media.path, media.type, begin, end, status, headers)
    if media.pieces is None:
        raise ValueError(media)
    return PiecesResponse(media.pieces(begin, end), end - begin, media.type, status, headers)
