"""What the people of the site tell everybody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.domain.server.services import Services
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.kinds import ANNOUNCEMENT
from crowdd.storage.core.listing import Query
from crowdd.values import Requester

NEWEST: Final = Query(ANNOUNCEMENT, order="created", descending=True, limit=100)


class Announcements:
    """``/announcements/``: what is published, the newest first, to administrators too."""

    def __init__(self, services: Services) -> None:
        self._records, self._prose = services.records, services.prose

    def routes(self) -> Iterator[Route]:
        yield get("/announcements/", self.announcements)

    async def announcements(self, incoming: Incoming) -> Response:
        rows = await self._records.list(NEWEST, Requester())
        prose = await self._prose.of((row["body"] for row in rows), ANNOUNCEMENT.field("body").heading)
        return Page("announcements/index.html", announcements=rows, _prose=prose)
