"""The pages on which people join a group, and what guests see of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict
from urllib.parse import quote

from crowdd.features.groups.joining import Joining
from crowdd.http.auth.cookies import VOLUNTEER
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ForbiddenError, FormError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_FIELDS: Final = ("code", "name", "number")


class JoinPublic(Titled, WithForm, Message):
    """The form has ``code``, ``name`` and ``number``."""


class OwnGroupPublic(Titled, WithForm):
    """``group``: its ``name`` and ``last_day``, the name of the guest (``member``), and answers."""

    group: Values


class GuestPrivate(TypedDict):
    """``known``: the requester has an account, by which they join."""

    known: bool


class JoinPages:
    """``/join``, ``/join/<code>``, and ``/group``: the group of the guest whose browser it is."""

    def __init__(self, joining: Joining, volunteers: VolunteerCookies, forms: Forms) -> None:
        self._joining, self._volunteers, self._forms = joining, volunteers, forms

    def routes(self) -> Iterator[Route]:
        yield get("/join", self.ask)
        yield get("/join/<code>", self.ask)
        yield post("/join", self.join)
        yield get("/group", self.own)
        yield post("/group/number", self.renew_number)
        yield post("/group/board", self.choose_board)
        yield post("/group/leave", self.leave)

    async def ask(self, incoming: Incoming, code: str = "") -> Response:
        """Asks for the code, and for a name. Whether the code is right is looked at when it is sent."""
        form = self._forms.filled(incoming, code=code[:20], name=incoming.who.user_name[:20], number="")
        return self._ask(incoming, form)

    async def join(self, incoming: Incoming) -> Response:
        """Joins with ``code`` and ``name``; guests who come back send their ``number``, too."""
        if not incoming.who.signed_in and not self._volunteers.enabled:
            raise ForbiddenError(_("Sign in first: this site does not tell visitors without an account apart."))
        try:
            joined = await self._joining.join(incoming.who, *(incoming.field(name) for name in _FIELDS))
        except FormError as error:
            return self._ask(incoming, self._forms.refused(incoming, error.errors, *_FIELDS), MISTAKES)
        if not joined.volunteer:
            return Redirect(f"/account/{quote(incoming.who.user_name)}/groups", _("You are a member of the group."))
        self._volunteers.give(incoming, joined.volunteer)
        words = _number_words(joined.number) if joined.number else _("Welcome back.")
        return Redirect("/group", words, more={"number": joined.number})

    async def own(self, incoming: Incoming) -> Response:
        """The group of a guest."""
        row = await self._joining.membership(incoming.who)
        group: Values = {**row, "last_day": row["last_day"].isoformat()}
        return Page("group/own.html", OwnGroupPublic(title=row["name"], group=group, form=self._forms.blank(incoming)))

    async def renew_number(self, incoming: Incoming) -> Response:
        """Gives the guest a new number."""
        number = await self._joining.renew_number(incoming.who)
        return Redirect("/group", _number_words(number), more={"number": number})

    async def choose_board(self, incoming: Incoming) -> Response:
        """Whether the board of the group names the guest (``on_board``)."""
        wanted = incoming.flag("on_board", False)
        await self._joining.choose_board(incoming.who, on_board=wanted)
        words = _("The board of the group may show your name.") if wanted else _("The board does not show your name.")
        return Redirect("/group", words)

    async def leave(self, incoming: Incoming) -> Response:
        """Makes the device a stranger's. The guest stays a member, and comes back with their number."""
        if incoming.who.guest:
            self._volunteers.cookies.drop(incoming, VOLUNTEER)
        return Redirect("/join", _("This device is free for somebody else."))

    def _ask(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        public = JoinPublic(title=_("Join a group"), form=form, **message)
        return Page("group/join.html", public, GuestPrivate(known=incoming.who.signed_in))


def _number_words(number: str) -> str:
    return _(
        "Your number is %(number)s. Write it down: with your name, it brings you back on another device.",
        number=number,
    )
