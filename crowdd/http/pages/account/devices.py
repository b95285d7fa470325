"""Where somebody is signed in, and signing out there; answers of this browser put under the account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.server.services import Services
from crowdd.errors import InvalidValueError, NotFoundError
from crowdd.http.html.forms import Forms
from crowdd.http.pages.account.access import Entry, claimed_words, own_account
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.languages import _


class DevicePages:
    """/account/<name>/sessions and /account/<name>/claim."""

    def __init__(self, services: Services, forms: Forms, entry: Entry) -> None:
        self._services, self._forms, self._entry = services, forms, entry
        self._sessions, self._answer_claims = services.people.sessions, services.people.answer_claims

    def routes(self) -> Iterator[Route]:
        yield get("/account/<name>/sessions", self.list)
        yield post("/account/<name>/sessions", self.end, proof=True)
        yield get("/account/<name>/claim", self.claim_form)
        yield post("/account/<name>/claim", self.claim)

    async def list(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._services, incoming, name, admins=False)
        sessions = await self._sessions.listed(row["id"], incoming.who)
        shown = [{key: outward(value) for key, value in session.items()} for session in sessions]
        form = self._forms.blank(incoming, "session")
        return Page("account/sessions.html", title=_("Sessions"), sessions=shown, form=form, _name=row["name"])

    async def end(self, incoming: Incoming, name: str) -> Response:
        """Ends the session that the field ``session`` numbers, or with "all" every one."""
        row = await own_account(self._services, incoming, name, admins=False)
        wanted = incoming.field("session")
        if wanted == "all":
            await self._sessions.end_all(row["id"])
            self._entry.forget(incoming)
            return Redirect("/account/signin", _("You are signed out everywhere."))
        try:
            ended = await self._sessions.end(row["id"], Integer().parse(wanted))
        except InvalidValueError:
            raise InvalidValueError('session is the number of a session, or "all".') from None
        if not ended:
            raise NotFoundError(_("This session has already ended."))
        return Redirect(f"/account/{quote(row['name'])}/sessions", _("The session was signed out."))

    async def claim_form(self, incoming: Incoming, name: str) -> Response:
        """How many answers of this browser stand under nobody's name."""
        row = await own_account(self._services, incoming, name, admins=False)
        answers = await self._answer_claims.offered(self._entry.volunteer(incoming), row["id"])
        more: dict[str, Any] = {"form": self._forms.blank(incoming), "_name": row["name"]}
        return Page("account/claim.html", 200, title=_("Your earlier answers"), answers=answers, **more)

    async def claim(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._services, incoming, name, admins=False)
        claimed = await self._answer_claims.claim(row["id"], self._entry.volunteer(incoming), incoming.who)
        return Redirect("/account/profile", claimed_words(claimed))
