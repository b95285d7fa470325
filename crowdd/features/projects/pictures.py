"""Pictures that owners bring for the texts of a project, and the picture of the project itself.

Pictures for texts are helping materials. The project's picture is cropped, drawn again and stored with its other files.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit

import attrs

from crowdd.core import log_statements
from crowdd.core.pictures import Box, redrawn
from crowdd.core.quotas import Quota
from crowdd.core.records import rights
from crowdd.core.records.listing_statements import Query, equal
from crowdd.core.records.records import Records
from crowdd.core.text.picture_addresses import is_upload, upload_path
from crowdd.core.uploads import TYPES, FileChanges, Upload, Uploads, container_of, suffix_of, with_files
from crowdd.database.access import Database, Transactions
from crowdd.features.projects import statements
from crowdd.features.projects.rows import ProjectPage
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import NOT_FOUND, FormError, InvalidValueError, NotFoundError, TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.helping_material import HELPING_MATERIAL
from crowdd.kinds.roles import OWNERS

PER_PAGE: Final = 24
MAX_NAMED: Final = 10  # pictures that are left out of a text, as an editor names them


@attrs.frozen
class Pictures:
    """Some pictures of a project, the newest first; ``next``: before which number further ones come."""

    pictures: list[Values]
    next: int | None


class ProjectPictures:
    """Adds, lists and removes them, by the rights, limits and quotas of helping materials."""

    def __init__(self, records: Records, base_url: str) -> None:
        self._records, self._base_url = records, base_url

    def may_add(self, row: ProjectPage) -> bool:
        """Whether who has this row of ``Projects.page`` may bring pictures and remove them."""
        return bool(row["roles"] & HELPING_MATERIAL.rights.create)

    async def page(self, who: Requester, row: ProjectPage, before: int | None = None) -> Pictures:
        """The last ones, or those before one."""
        of_project = equal(HELPING_MATERIAL, project_id=row["id"])
        query = Query(HELPING_MATERIAL, of_project, descending=True, limit=PER_PAGE, last_id=before)
        materials = await self._records.list(query, who)
        shown = [picture for each in materials if (picture := self._picture(each)) is not None]
        return Pictures(shown, materials[-1]["id"] if len(materials) == PER_PAGE else None)

    async def add(self, who: Requester, row: ProjectPage, upload: Upload | None) -> Values:
        """The new picture. Raises FormError for ``picture``: no file, no picture, too large; what a quota raises."""
        if upload is None or not upload.content:
            raise FormError({"picture": [_("Choose a picture first.")]})
        if not _is_picture(suffix_of(upload.content)):
            raise FormError({"picture": [_("This is not a PNG, JPEG, GIF or WebP picture.")]})
        body = {"project_id": row["id"], "info": {"use": "text"}}
        try:
            made = self._picture(await self._records.create(HELPING_MATERIAL, who, body, upload))
        except TooLargeError as error:
            raise FormError({"picture": [error.args[0]]}) from None
        if made is None:
            raise NotFoundError(NOT_FOUND)
        return made

    async def remove(self, who: Requester, row: ProjectPage, picture_id: int) -> None:
        """Removes one with its file. Raises NotFoundError for what is no picture of the project."""
        material = await self._records.get(HELPING_MATERIAL, who, picture_id)
        if material["project_id"] != row["id"] or self._picture(material) is None:
            raise NotFoundError(NOT_FOUND)
        await self._records.delete(HELPING_MATERIAL, who, picture_id)

    def _picture(self, material: Values) -> Values | None:
        """``id`` and ``path`` (what a text names) of a material that is an uploaded picture."""
        path = upload_path(material["media_url"], self._base_url)
        return {"id": material["id"], "path": path} if path and _is_picture(PurePosixPath(path).suffix) else None


def why_left_out(address: str, base_url: str) -> str:
    """Why a text does not show the picture at an address.

    ``site``: an upload of this site, but with its name in front; ``page``: another address of this site; ``other``:
    another site; ``none``: no address of a picture.
    """
    if upload_path(address, base_url):
        return "site"
    try:
        parts = urlsplit(address)
    except ValueError:
        return "none"
    if parts.scheme in ("http", "https") or (not parts.scheme and parts.netloc):
        ours = urlsplit(base_url).netloc
        return "site" if parts.netloc == ours and is_upload(parts.path) else "page" if parts.netloc == ours else "other"
    return "page" if not parts.scheme and address.startswith("/") else "none"


def _is_picture(suffix: str) -> bool:
    return TYPES.get(suffix, "").startswith("image/")


SIZE: Final = (720, 480)
"""Pixels of a finished picture: the shape of every print on our pages, sharp on a dense screen."""


class Thumbnails:
    """Pictures of projects."""

    def __init__(
        self, db: Transactions, worker_thread: WorkerThread, uploads: Uploads, base_url: str, quota: Quota
    ) -> None:
        self._quota = quota
        self._db, self._worker_thread, self._uploads, self._base_url = db, worker_thread, uploads, base_url

    async def set(self, row: ProjectPage, upload: Upload, box: Box | None, who: Requester) -> None:
        """Gives a project a picture; the one before goes with the sweep of orphans. Raises FormError for ``avatar``."""
        rights.require(who, row["roles"], OWNERS)
        try:
            picture = await self._worker_thread.do(redrawn, upload.content, box, SIZE, "WEBP")
        except InvalidValueError as error:
            raise FormError({"avatar": [error.args[0]]}) from None

        async def work(tx: Database, files: FileChanges) -> None:
            path = files.store(container_of(row["id"]), Upload("thumbnail.webp", picture))
            container, name = path.split("/")
            info = {"container": container, "thumbnail": name, "thumbnail_url": f"{self._base_url}/uploads/{path}"}
            await statements.write_info_keys(tx, row["id"], info)
            await log_statements.write_act(
                tx, who, "update", "project", row["id"], project_id=row["id"], attribute="info.thumbnail"
            )

        await with_files(self._db, self._uploads, work, lambda tx: self._quota.require(tx, who))
