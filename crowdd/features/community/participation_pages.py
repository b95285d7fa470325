"""What a person finds of their own: answers, favourites, projects to go on with."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.features.accounts.accounts import Accounts
from crowdd.features.community.favourites import Favourites, Participation
from crowdd.features.signin.views import NamedPrivate, own_account
from crowdd.http import queries
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_MAX_ID = 2**63 - 1


class AnswersPublic(Titled):
    """``next``: before which answer the next page begins. ``projects`` are those to go on with, on the first page."""

    answers: list[Values]
    next: int | None
    projects: list[Values]


class AnswersPrivate(NamedPrivate):
    first: bool


class FavouritesPublic(Titled, WithForm):
    """``next``: before which task the next page begins."""

    favourites: list[Values]
    next: int | None


class ParticipationPages:
    """``/account/<name>/answers`` and ``/account/<name>/favourites``; nobody else sees them."""

    def __init__(self, accounts: Accounts, participation: Participation, favourites: Favourites, forms: Forms) -> None:
        self._accounts, self._participation, self._favourites = accounts, participation, favourites
        self._forms = forms

    def routes(self) -> Iterator[Route]:
        yield get("/account/<name>/answers", self.answers)
        yield get("/account/<name>/favourites", self.favourites)
        yield post("/account/<name>/favourites/<int:task_id>/remove", self.remove)

    async def answers(self, incoming: Incoming, name: str) -> Response:
        """The newest answers, or those before one (``before``)."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        before = _before(incoming)
        page = await self._participation.answers(incoming.who, before)
        projects = await self._participation.to_continue(incoming.who) if before is None else []
        public = AnswersPublic(title=_("Your answers"), answers=page.rows, next=page.next, projects=projects)
        return Page("account/answers.html", public, AnswersPrivate(name=row["name"], first=before is None))

    async def favourites(self, incoming: Incoming, name: str) -> Response:
        """The newest tasks that the person marked, or those before one (``before``)."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        page = await self._participation.favourites(incoming.who, _before(incoming))
        form = self._forms.blank(incoming)
        public = FavouritesPublic(title=_("Your favourites"), favourites=page.rows, next=page.next, form=form)
        return Page("account/favourites.html", public, NamedPrivate(name=row["name"]))

    async def remove(self, incoming: Incoming, name: str, task_id: int) -> Response:
        """Takes the mark off a task."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        await self._favourites.remove(incoming.who, min(task_id, _MAX_ID))
        return Redirect(f"/account/{quote(row['name'])}/favourites", _("Removed from your favourites."))


def _before(incoming: Incoming) -> int | None:
    text = incoming.query.get("before")
    return queries.parse_number(text, "before", 0) if text else None
