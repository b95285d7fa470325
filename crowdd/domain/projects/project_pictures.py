"""Pictures that owners bring for the texts of a project: helping materials that are pictures, and their addresses."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit

import attrs

from crowdd.domain.core.records import Records
from crowdd.domain.core.text.picture_addresses import is_upload, upload_path
from crowdd.domain.core.uploads import TYPES, Upload, suffix_of
from crowdd.errors import NOT_FOUND, FormError, NotFoundError, TooLargeError
from crowdd.kinds.helping_material import HELPING_MATERIAL
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.core.listing import Query, equal
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

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
