"""The page of the pictures for a project's texts, and the handler that serves uploaded files and media.

Files of locked projects are for people who have opened the lock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote

import attrs

from crowdd.core import uploads
from crowdd.features.media.sending import answer_media
from crowdd.features.media.store import OF_ANSWER, SNAPSHOT, MediaStore, StoredMedia, read_part
from crowdd.features.media.tiles import MAX_END, SUFFIX, Pyramid, Tile, read_end
from crowdd.features.media.tiles import TYPES as TILE_TYPES
from crowdd.features.projects.files import FileAccess
from crowdd.features.projects.pictures import ProjectPictures
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http import queries
from crowdd.http.html.forms import MISTAKES, Forms, WithForm
from crowdd.http.html.frames import upload_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import (
    NO_MESSAGE,
    BytesResponse,
    Message,
    Page,
    Redirect,
    Response,
)
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_AT = "/project/<short_name>/pictures"
_MAX_ID = 2**63 - 1


class PicturesPublic(ProjectPublic, WithForm, Message):
    pictures: list[Values]
    next: int | None


class PicturesPrivate(ProjectPrivate):
    """``story`` is the long description of the project."""

    may_add: bool
    story: str


class PicturePages:
    """``/project/<short_name>/pictures``."""

    def __init__(
        self, projects: Projects, project_pictures: ProjectPictures, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._pictures, self._forms, self._views = projects, project_pictures, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.add))
        yield post(f"{_AT}/<int:picture_id>/delete", locked_out(self.remove))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The newest, or those before one (``before``)."""
        return await self._page(incoming, await self._projects.owned(short_name, incoming.who), {})

    async def add(self, incoming: Incoming, short_name: str) -> Response:
        """Stores the file ``picture``. Programs get its ``path``, by which a text shows it."""
        row = await self._projects.owned(short_name, incoming.who)
        sent = incoming.upload("picture") if incoming.content_type == "multipart/form-data" else None
        try:
            made = await self._pictures.add(incoming.who, row, sent)
        except FormError as error:
            return await self._page(incoming, row, error.errors)
        return Redirect(_path(short_name), _("The picture is uploaded."), more={"picture": made})

    async def remove(self, incoming: Incoming, short_name: str, picture_id: int) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._pictures.remove(incoming.who, row, min(picture_id, _MAX_ID))
        return Redirect(_path(short_name), _("The picture is deleted."))

    async def _page(self, incoming: Incoming, row: ProjectPage, errors: dict[str, list[str]]) -> Response:
        before = incoming.query.get("before")
        page = await self._pictures.page(
            incoming.who, row, queries.parse_number(before, "last_id", 0) if before else None
        )
        form = self._forms.refused(incoming, errors) if errors else self._forms.blank(incoming)
        message = MISTAKES if errors else NO_MESSAGE
        context = await self._views.context(incoming, row, _("Pictures"))
        public = PicturesPublic(**context.public, **message, form=form, pictures=page.pictures, next=page.next)
        may_add, story = self._pictures.may_add(row), row["long_description"]
        return Page("project/pictures.html", public, PicturesPrivate(**context.private, may_add=may_add, story=story))


def _path(short_name: str) -> str:
    return f"/project/{quote(short_name)}/pictures"


_TILE: Final = re.compile(
    r"(?P<name>[0-9A-Za-z]{1,80})_files/(?P<level>\d{1,2})/(?P<column>\d{1,5})_(?P<row>\d{1,5})\.(?P<form>[a-z]{3,4})"
)
_CACHED = "public, max-age=86400"


class UploadPages:
    """``/uploads/<container>/<name>``, and the tiles of large pictures, which one file has (``media.tiles``)."""

    def __init__(self, uploads: uploads.Uploads, media: MediaStore, file_access: FileAccess) -> None:
        self._uploads, self._media, self._access = uploads, media, file_access

    def routes(self) -> Iterator[Route]:
        yield get("/uploads/<container>/<name>", self.file, page=False)
        yield get("/uploads/<container>/<tiles>/<level>/<tile>", self.tile, page=False)

    async def file(self, incoming: Incoming, container: str, name: str) -> Response:
        if name.endswith((SNAPSHOT, OF_ANSWER)):
            raise NotFoundError("404 Not Found")
        media, headers = await self._opened(incoming, container, name)
        if name.endswith(SUFFIX) and (tiled := await _tiled(media)) is not None:
            return BytesResponse(tiled[0].description(), "application/xml", 200, headers)
        if media.type == uploads.DOWNLOAD:
            headers["Content-Disposition"] = "attachment"
        return answer_media(incoming, media, headers)

    async def tile(self, incoming: Incoming, container: str, tiles: str, level: str, tile: str) -> Response:
        """``<name>_files/<level>/<column>_<row>.jpg`` of a picture in tiles, ``<name>.dzi``."""
        asked = _TILE.fullmatch(f"{tiles}/{level}/{tile}")
        if asked is None:
            raise NotFoundError("404 Not Found")
        media, headers = await self._opened(incoming, container, f"{asked['name']}{SUFFIX}")
        pyramid, places = await _tiled(media) or (None, {})
        place = places.get((int(asked["level"]), int(asked["column"]), int(asked["row"])))
        if pyramid is None or place is None or pyramid.form != asked["form"]:
            raise NotFoundError("404 Not Found")
        begin, end = place
        part = attrs.evolve(media, type=TILE_TYPES[pyramid.form])
        return answer_media(incoming, part, headers, begin, end)

    async def _opened(self, incoming: Incoming, container: str, name: str) -> tuple[StoredMedia, dict[str, str]]:
        """A file that the caller may read, and headers for it. Raises NotFoundError."""
        folder, public = await self._access.container(container, incoming.who)
        media = await self._found(incoming, folder, name)
        if media is None:
            raise NotFoundError("404 Not Found")
        return media, {**upload_headers(), "Cache-Control": _CACHED if public else "private, no-cache"}

    async def _found(self, incoming: Incoming, folder: str, name: str) -> StoredMedia | None:
        """A file of this machine, or one that the store of media has elsewhere."""
        here = self._uploads.find(folder, name)
        if here is None:
            partly = name.endswith(SUFFIX) or any(incoming.header(each) for each in ("range", "if-none-match"))
            return await self._media.open(f"{folder}/{name}", content=incoming.method == "GET" and not partly)
        path, type_ = here
        stat = path.stat()
        return StoredMedia(stat.st_size, type_, f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"', path)


async def _tiled(media: StoredMedia) -> tuple[Pyramid, Mapping[Tile, tuple[int, int]]] | None:
    """What a file has, if it is a picture in tiles."""
    return read_end(await read_part(media, max(0, media.size - MAX_END), media.size), media.size)
