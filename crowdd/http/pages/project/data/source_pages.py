"""Addresses that are imported again each hour, day or week: kept, paused, read now, deleted."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.domain.transfer.scheduled.import_sources import Sources
from crowdd.errors import InvalidValueError, RefusedTargetError
from crowdd.http import queries
from crowdd.http.pages.project.views import locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Redirect, Response
from crowdd.http.routing import Route, post
from crowdd.languages import _

_AT = "/project/<short_name>/tasks/import"
_DONE = {
    "pause": _("The scheduled import is paused."),
    "resume": _("The address will be read again."),
    "now": _("The address is being read."),
    "delete": _("The address was removed. Its tasks stay."),
    "period": _("The interval was changed."),
}


class SourcePages:
    """What the forms about sources on the page of imports do."""

    def __init__(self, projects: Projects, sources: Sources) -> None:
        self._projects, self._sources = projects, sources

    def routes(self) -> Iterator[Route]:
        yield post(f"{_AT}/<int:import_id>/again", locked_out(self.keep))
        yield post(f"{_AT}/sources/<int:source_id>", locked_out(self.change))

    async def keep(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """Reads the address of an import again every ``period`` seconds: 3600, 86400 or 604800."""
        row = await self._projects.owned(short_name, incoming.who)
        at = f"/project/{quote(short_name)}/tasks/import"
        try:
            source_id = await self._sources.keep(incoming.who, row, import_id, _period(incoming))
        except (InvalidValueError, RefusedTargetError) as error:
            return Redirect(f"{at}/{import_id}", error.args[0], "error")
        return Redirect(at, _("The address will be read again."), more={"source": source_id})

    async def change(self, incoming: Incoming, short_name: str, source_id: int) -> Response:
        """Does what ``act`` says: pause, resume, now, delete, or period with ``period``."""
        row = await self._projects.owned(short_name, incoming.who)
        act, at = incoming.field("act"), f"/project/{quote(short_name)}/tasks/import"
        try:
            period = _period(incoming) if act == "period" else 0
            await self._sources.change(incoming.who, row, source_id, act, period)
        except InvalidValueError as error:
            return Redirect(at, error.args[0], "error")
        return Redirect(at, _DONE[act])


def _period(incoming: Incoming) -> int:
    return queries.number(incoming.field("period"), "period", 0)
