"""What the people of the site tell everybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from crowdd.domain.core.records import Records
from crowdd.domain.core.text.rendered_text import Prose
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.kinds import ANNOUNCEMENT
from crowdd.values import Requester

NEWEST: Final[Mapping[str, str]] = {"limit": "100", "orderby": "created", "desc": "true"}


class Announcements:
    """``/announcements/``: what is published, the newest first, to administrators too."""

    def __init__(self, records: Records, prose: Prose) -> None:
        self._records, self._prose = records, prose

    def routes(self) -> Iterator[Route]:
        yield get("/announcements/", self.announcements)

    async def announcements(self, incoming: Incoming) -> Response:
        rows = await self._records.list(ANNOUNCEMENT, Requester(), NEWEST)
        prose = await self._prose.of((row["body"] for row in rows), ANNOUNCEMENT.field("body").heading)
        return Page("announcements/index.html", announcements=rows, _prose=prose)
