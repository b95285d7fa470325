"""Who may answer: answers of one network that count per task, and barred volunteers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import attrs

from crowdd.domain.barring import Outcome
from crowdd.domain.domain import Domain
from crowdd.errors import InvalidValueError, NotFoundError
from crowdd.http.answers import Answer, Page, Redirect
from crowdd.http.forms import CORRECT, Forms
from crowdd.http.incoming import Incoming
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.routing import Route, get, post
from crowdd.kinds import PROJECT
from crowdd.kinds.types import Integer
from crowdd.languages import _
from crowdd.storage.database import Row

_AT = "/project/<short_name>/volunteers"
_BAR_FIELDS = ("taskrun_id", "user_name", "reason")


class VolunteerPages:
    """``/project/<short_name>/volunteers`` and its forms."""

    def __init__(self, domain: Domain, forms: Forms, views: ProjectViews) -> None:
        self._domain, self._forms, self._views = domain, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.set_limit))
        yield post(f"{_AT}/bar", locked_out(self.bar))
        yield post(f"{_AT}/unbar/<int:bar_id>", locked_out(self.unbar))

    async def page(self, incoming: Incoming, short_name: str) -> Answer:
        """The limit, who is barred, and a form to bar somebody; ``taskrun_id`` names an answer of theirs."""
        row = await self._domain.projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.filled(incoming, **self._values(incoming, row)))

    def _values(self, incoming: Incoming, row: Row) -> dict[str, Any]:
        most = row["info"].get("counted_per_network")
        named = incoming.query.get("taskrun_id", "")
        return {"counted_per_network": most, "taskrun_id": named if named.isdigit() else None} | dict.fromkeys(
            ("user_name", "reason")
        )

    async def _page(self, incoming: Incoming, row: Row, form: dict[str, Any], **said: Any) -> Answer:
        barred = await self._domain.barring.listed(incoming.who, row["id"])
        return Page(
            "project/volunteers.html",
            **await self._views.context(incoming, row),
            barred=[attrs.asdict(each) for each in barred],
            form=form,
            csrf=form["csrf"],
            default=await self._domain.projects.volunteer_rule(),
            **said,
        )

    async def set_limit(self, incoming: Incoming, short_name: str) -> Answer:
        """How many answers of a network count per task; nothing for what the site says."""
        row = await self._domain.projects.owned(short_name, incoming.who)
        given = incoming.field("counted_per_network").strip()
        info = {name: value for name, value in row["info"].items() if name != "counted_per_network"}
        try:
            told = {"counted_per_network": Integer(least=0).parse(given)} if given else {}
            await self._domain.records.change(PROJECT, incoming.who, row["id"], {"info": info | told})
        except InvalidValueError:
            wrong = {"counted_per_network": [_("Enter a whole number from 0 to 1,000, or nothing.")]}
            return await self._refused(incoming, row, wrong)
        return Redirect(_at(short_name), _("The limit is saved."))

    async def bar(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._domain.projects.owned(short_name, incoming.who)
        body = {name: incoming.field(name).strip() for name in _BAR_FIELDS if incoming.field(name).strip()}
        flags = {"network": incoming.flag("network", False), "set_aside": incoming.flag("set_aside", False)}
        try:
            outcome = await self._domain.barring.bar(incoming.who, row["id"], body | flags)
        except InvalidValueError as error:
            return await self._refused(incoming, row, {"taskrun_id": [error.args[0]]})
        except NotFoundError as error:
            named = "user_name" if "user_name" in body else "taskrun_id"
            return await self._refused(incoming, row, {named: [error.hint or _("Not found.")]})
        return _done(short_name, outcome, _("The volunteer is barred."))

    async def unbar(self, incoming: Incoming, short_name: str, bar_id: int) -> Answer:
        row = await self._domain.projects.owned(short_name, incoming.who)
        outcome = await self._domain.barring.unbar(incoming.who, row["id"], bar_id)
        return _done(short_name, outcome, _("The bar is removed."))

    async def _refused(self, incoming: Incoming, row: Row, wrong: dict[str, list[str]]) -> Answer:
        form = self._forms.refused(incoming, wrong, "counted_per_network", *_BAR_FIELDS)
        return await self._page(incoming, row, form, flash=CORRECT, status="error")


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name)}/volunteers"


def _done(short_name: str, outcome: Outcome, words: str) -> Redirect:
    if outcome.queue_item is not None:
        words = f"{words} {_('Their answers are being changed in the background.')}"
    return Redirect(_at(short_name), words, more=attrs.asdict(outcome))
