"""A card of a project that pages of other sites may show in a frame."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.core.records import Records
from crowdd.domain.projects.projects import Projects
from crowdd.errors import ForbiddenError, NotFoundError
from crowdd.http.html.presenter import card_headers
from crowdd.http.html.rendering import Templates
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.routing import Route, get
from crowdd.http.transport.request_headers import best_language
from crowdd.kinds.project import PROJECT
from crowdd.languages import NAMES
from crowdd.languages.content_languages import direction_of
from crowdd.requester import Requester
from crowdd.storage.projects.rows import ProjectPage

_KEPT_SECONDS = 60


class CardPages:
    """``/project/<short_name>/embed``: name, progress and a button that opens the project in a window of its own.

    It is the same for everybody, whatever their cookies say: only what strangers may see is on it. It has no script and
    no form, and its only link opens another window, so a page around it gains nothing by hiding or covering it.
    """

    def __init__(self, projects: Projects, records: Records, templates: Templates) -> None:
        self._projects, self._records, self._templates = projects, records, templates

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/embed", self.card, page=False)

    async def card(self, incoming: Incoming, short_name: str) -> Response:
        """The card in the language of the query ``language``, or one that the browser asks for."""
        row = await self._shown(short_name)
        asked = incoming.query.get("language", "")
        locale = asked if asked in NAMES else best_language(incoming.header("accept-language"))
        context = {
            "project": None if row is None else self._records.public_view(PROJECT, row),
            "n_tasks": row and int(row["n_tasks"]),
            "overall_progress": row and int(row["overall_progress"]),
            "locale": locale,
            "direction": direction_of(locale),
        }
        document = self._templates.render("project/embed.html", context)
        headers = {
            **card_headers(incoming.header("host")),
            "Cache-Control": f"public, max-age={_KEPT_SECONDS}",
            "Vary": "Accept-Language",
        }
        return BytesResponse(document.encode(), status=404 if row is None else 200, headers=headers)

    async def _shown(self, short_name: str) -> ProjectPage | None:
        """The project, or None where a stranger may not see it."""
        try:
            row = await self._projects.page(short_name, Requester())
        except (NotFoundError, ForbiddenError):
            return None
        return row if row["published"] else None
