"""A person's own page of what they gave, with a card to share and their certificates."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final, TypedDict
from urllib.parse import quote

import attrs

from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.recognition.certificates import CertificateForm, Certificates
from crowdd.features.recognition.contributions import MAX_READ, Contributions, OwnContributions
from crowdd.features.recognition.rows import Certificate
from crowdd.features.signin.views import own_account
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.rendering import Templates
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, BytesResponse, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import _
from crowdd.kernel.languages.content_languages import direction_of
from crowdd.kernel.values import Values
from crowdd.kinds.types import iso

_AT: Final = "/account/<name>/contributions"
_FIELDS: Final = ("name", "first_day", "last_day")


class Month(TypedDict):
    """A month by its first day."""

    month: str
    seconds: float


class ContributionsPublic(Titled, WithForm, Message):
    """``whole``: not only of the newest answers. Projects that the person may not see have no name.

    ``on_boards``: whether they stand on leaderboards. ``works``: sorts of tasks (choose, write, mark, or "").
    """

    answers: int
    seconds: float
    whole: bool
    projects: list[Values]
    works: list[Values]
    months: list[Month]
    on_boards: bool
    certificates: list[Values]


class ContributionsPrivate(TypedDict):
    """``account`` is the user name; ``months_drawn``: the bars, months with hours or minutes (``unit``)."""

    account: str
    limit: int
    months_drawn: list[tuple[date, float]]
    unit: str


class ContributionPages:
    """``/account/<name>/contributions``, which nobody else sees."""

    def __init__(
        self, accounts: Accounts, contributions: OwnContributions, certificates: Certificates, forms: Forms
    ) -> None:
        self._accounts, self._contributions, self._certificates = accounts, contributions, certificates
        self._forms = forms

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.page)
        yield post(_AT, self.certify)
        yield post(f"{_AT}/leaderboards", self.choose)

    async def page(self, incoming: Incoming, name: str) -> Response:
        """What the person gave until now."""
        row = await self._own(incoming, name)
        contributions = await self._contributions.of(incoming.who)
        name, last = row["fullname"] or row["name"], contributions.today.isoformat()
        form = self._forms.filled(incoming, name=name, first_day=_begin(contributions), last_day=last)
        return await self._page(incoming, row, contributions, form)

    async def certify(self, incoming: Incoming, name: str) -> Response:
        """Makes a certificate from ``name``, ``first_day`` and ``last_day``."""
        row = await self._own(incoming, name)
        try:
            made = await self._certificates.create(
                incoming.who, CertificateForm(*(incoming.field(each) for each in _FIELDS))
            )
        except FormError as error:
            contributions = await self._contributions.of(incoming.who)
            return await self._page(
                incoming, row, contributions, self._forms.refused(incoming, error.errors, *_FIELDS), MISTAKES
            )
        return Redirect(f"{path_of(row['name'])}#certificates", _("Your certificate is ready."), more={"id": made})

    async def choose(self, incoming: Incoming, name: str) -> Response:
        """Takes the person off all leaderboards, or puts them back (``on_boards``)."""
        row = await self._own(incoming, name)
        wanted = incoming.flag("on_boards", False)
        await self._contributions.choose(incoming.who, on_boards=wanted)
        words = _("You are on the leaderboards.") if wanted else _("You are on no leaderboard now.")
        return Redirect(f"{path_of(row['name'])}#leaderboards", words)

    async def _own(self, incoming: Incoming, name: str) -> AccountPage:
        return await own_account(self._accounts, incoming, name, admins=False)

    async def _page(
        self,
        incoming: Incoming,
        row: AccountPage,
        contributions: Contributions,
        form: Form,
        message: Message = NO_MESSAGE,
    ) -> Response:
        public = ContributionsPublic(
            title=_("What you gave"),
            answers=contributions.answers,
            seconds=contributions.seconds,
            whole=contributions.whole,
            projects=[attrs.asdict(one) for one in contributions.projects],
            works=[attrs.asdict(one) for one in contributions.works],
            months=[Month(month=month.isoformat(), seconds=seconds) for month, seconds in contributions.months],
            on_boards=await self._contributions.on_boards(incoming.who),
            certificates=[shown_certificate(one) for one in await self._certificates.own(incoming.who)],
            form=form,
            **message,
        )
        longest = max(seconds for _month, seconds in contributions.months)
        unit, length = ("hours", 3600) if longest >= 2 * 3600 else ("minutes", 60)
        private = ContributionsPrivate(
            account=row["name"],
            limit=MAX_READ,
            months_drawn=[(month, seconds / length) for month, seconds in contributions.months],
            unit=unit,
        )
        return Page("account/contributions.html", public, private)


class ShareCardPages:
    """The card below it: a picture that the person may share."""

    def __init__(self, accounts: Accounts, contributions: OwnContributions, templates: Templates) -> None:
        self._accounts, self._contributions, self._templates = accounts, contributions, templates

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/card.svg", self.card, page=False)

    async def card(self, incoming: Incoming, name: str) -> Response:
        """What they gave as a picture, which they may share."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        contributions, locale = await self._contributions.of(incoming.who), locale_of(incoming)
        context = {
            "name": row["name"] if row["privacy_mode"] else row["fullname"] or row["name"],
            "given": contributions,
            "locale": locale,
            "direction": direction_of(locale),
        }
        document = self._templates.render("account/_share_card.html", context)
        return BytesResponse(document.encode(), "image/svg+xml", headers={"Cache-Control": "private, no-store"})


def _begin(contributions: Contributions) -> str:
    """The first day that is offered for a certificate: that of the first month with an answer."""
    return next(
        (month.isoformat() for month, seconds in contributions.months if seconds),
        contributions.months[0][0].isoformat(),
    )


def path_of(name: str) -> str:
    """The page of a person."""
    return f"/account/{quote(name)}/contributions"


def shown_certificate(row: Certificate) -> Values:
    """A certificate as JSON."""
    days = {name: row[name].isoformat() for name in ("first_day", "last_day")}
    return {**row, **days, "created": iso(row["created"])}
