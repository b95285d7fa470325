"""The sessions of an account, and the anonymous answers of this browser that it can take over."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.authentication.sessions import Sessions
from crowdd.errors import InvalidValueError, NotFoundError
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.pages.account.access import Entry, NamedPrivate, own_account
from crowdd.http.pages.account.earlier_answers import EarlierAnswers, claimed_words
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.languages import _
from crowdd.values import Values


class SessionsPublic(Titled, WithForm):
    sessions: list[Values]


class ClaimPublic(Titled, WithForm):
    """``answers`` is the number of anonymous answers that the account can take over."""

    answers: int


class DevicePages:
    """/account/<name>/sessions and /account/<name>/claim."""

    def __init__(
        self, accounts: Accounts, sessions: Sessions, forms: Forms, entry: Entry, earlier_answers: EarlierAnswers
    ) -> None:
        self._accounts, self._sessions, self._forms, self._entry = accounts, sessions, forms, entry
        self._earlier_answers = earlier_answers

    def routes(self) -> Iterator[Route]:
        yield get("/account/<name>/sessions", self.list)
        yield post("/account/<name>/sessions", self.end, proof=True)
        yield get("/account/<name>/claim", self.claim_form)
        yield post("/account/<name>/claim", self.claim)

    async def list(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        sessions = await self._sessions.listed(row["id"], incoming.who)
        shown = [{key: outward(value) for key, value in session.items()} for session in sessions]
        form = self._forms.blank(incoming, "session")
        public = SessionsPublic(title=_("Sessions"), sessions=shown, form=form)
        return Page("account/sessions.html", public, NamedPrivate(name=row["name"]))

    async def end(self, incoming: Incoming, name: str) -> Response:
        """Ends the session that the field ``session`` numbers, or with "all" every one."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        wanted = incoming.field("session")
        if wanted == "all":
            await self._sessions.end_all(row["id"])
            self._entry.forget(incoming)
            return Redirect("/account/signin", _("You are signed out everywhere."))
        try:
            ended = await self._sessions.end(row["id"], Integer().parse(wanted))
        except InvalidValueError:
            raise InvalidValueError('session must be the number of a session, or "all".') from None
        if not ended:
            raise NotFoundError(_("This session has already ended."))
        return Redirect(f"/account/{quote(row['name'])}/sessions", _("The session was signed out."))

    async def claim_form(self, incoming: Incoming, name: str) -> Response:
        """How many anonymous answers of this browser the account can take over."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        answers = await self._earlier_answers.count(incoming, row["id"])
        form = self._forms.blank(incoming)
        public = ClaimPublic(title=_("Your earlier answers"), answers=answers, form=form)
        return Page("account/claim.html", public, NamedPrivate(name=row["name"]))

    async def claim(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name, admins=False)
        claimed = await self._earlier_answers.claim(incoming, row["id"])
        return Redirect("/account/profile", claimed_words(claimed))
