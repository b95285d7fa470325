"""Announcements of the site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

from crowdd.domain.core.records import Records
from crowdd.domain.core.text.rendered_text import Laid, Prose
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.kinds.announcement import ANNOUNCEMENT
from crowdd.requester import Requester
from crowdd.storage.core.listing import Query
from crowdd.values import Values

NEWEST: Final = Query(ANNOUNCEMENT, order="created", descending=True, limit=100)


class AnnouncementsPublic(TypedDict):
    announcements: list[Values]


class AnnouncementsPrivate(TypedDict):
    prose: Laid


class Announcements:
    """``/announcements/``: published announcements, the newest first. Administrators see the same list."""

    def __init__(self, records: Records, prose: Prose) -> None:
        self._records, self._prose = records, prose

    def routes(self) -> Iterator[Route]:
        yield get("/announcements/", self.announcements)

    async def announcements(self, incoming: Incoming) -> Response:
        rows = await self._records.list(NEWEST, Requester())
        prose = await self._prose.of((row["body"] for row in rows), ANNOUNCEMENT.field("body").heading)
        return Page(
            "announcements/index.html", AnnouncementsPublic(announcements=rows), AnnouncementsPrivate(prose=prose)
        )
