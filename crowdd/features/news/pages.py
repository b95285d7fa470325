"""A person's news with what they choose of it, and the page that ends the weekly e-mail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.features.accounts.accounts import Accounts
from crowdd.features.news.digest import UNSUBSCRIBE, Digest
from crowdd.features.news.news import KINDS, News, shown_news
from crowdd.features.news.rows import LetterChoice, MutedProject
from crowdd.features.signin.views import NamedPrivate, own_account
from crowdd.http.html.forms import Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_AT = "/account/<name>/news"


class NewsPublic(Titled, WithForm):
    """``choice``: of the weekly e-mail. ``muted``: projects without news."""

    news: list[Values]
    choice: LetterChoice
    muted: list[MutedProject]


class EndedPublic(Titled):
    """``ended``: the e-mails have ended; otherwise the page asks."""

    ended: bool


class EndedPrivate(TypedDict):
    to: str


class NewsPages:
    """``/account/<name>/news``, which nobody else sees."""

    def __init__(self, accounts: Accounts, news: News, forms: Forms) -> None:
        self._accounts, self._news, self._forms = accounts, news, forms

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.list)
        yield post(_AT, self.choose)
        yield post(f"{_AT}/mute", self.mute)
        yield post(f"{_AT}/unmute", self.unmute)

    async def list(self, incoming: Incoming, name: str) -> Response:
        """The news of the last 90 days. A browser that shows them has shown them."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        news = await self._news.newest(incoming.who)
        choice, muted = await self._news.choice(incoming.who), await self._news.muted(incoming.who)
        if any(one["new"] for one in news) and not incoming.is_prefetch:
            await self._news.note_seen(incoming.who)
        form: Form = self._forms.blank(incoming)
        public = NewsPublic(
            title=_("News"), news=[shown_news(one) for one in news], choice=choice, muted=muted, form=form
        )
        return Page("account/news.html", public, NamedPrivate(name=row["name"]))

    async def choose(self, incoming: Incoming, name: str) -> Response:
        """Stores the choice: ``subscribed``, and a field for each kind of news. What JSON leaves out stays."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        choice = await self._news.choice(incoming.who)
        kinds = [kind for kind in KINDS if incoming.flag(kind, kind not in choice["without"])]
        await self._news.choose(incoming.who, incoming.flag("subscribed", choice["subscribed"]), kinds)
        return Redirect(_path(row["name"]), _("Your choice has been saved."))

    async def mute(self, incoming: Incoming, name: str) -> Response:
        """Ends the news of ``project``, by its short name."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        await self._news.mute(incoming.who, incoming.field("project"))
        return Redirect(_path(row["name"]), _("You get no more news of this project."))

    async def unmute(self, incoming: Incoming, name: str) -> Response:
        """Begins them again."""
        row = await own_account(self._accounts, incoming, name, admins=False)
        await self._news.unmute(incoming.who, incoming.field("project"))
        return Redirect(_path(row["name"]), _("You get news of this project again."))


def _path(name: str) -> str:
    return f"/account/{quote(name)}/news"


class UnsubscribePages:
    """``/unsubscribe``: the link in the weekly e-mail, which works without signing in."""

    def __init__(self, digest: Digest) -> None:
        self._digest = digest

    def routes(self) -> Iterator[Route]:
        yield get(UNSUBSCRIBE, self.ask)
        yield post(UNSUBSCRIBE, self.end, csrf=False)

    async def ask(self, incoming: Incoming) -> Response:
        """Asks: a program that follows the links of e-mails ends nothing."""
        to = incoming.query.get("to", "")
        if not self._digest.is_ours(to):
            raise _unknown()
        return self._page(to, ended=False)

    async def end(self, incoming: Incoming) -> Response:
        """Ends the e-mails. Mail programs post here by themselves (RFC 8058); the signed address is the proof."""
        to = incoming.query.get("to", "")
        if not await self._digest.unsubscribe(to):
            raise _unknown()
        return self._page(to, ended=True)

    def _page(self, to: str, *, ended: bool) -> Response:
        title = _("The weekly e-mail has ended") if ended else _("Stop the weekly e-mail?")
        return Page("account/unsubscribe.html", EndedPublic(title=title, ended=ended), EndedPrivate(to=to))


def _unknown() -> NotFoundError:
    return NotFoundError(_("This link is not valid any more. Sign in and change the setting on the page of your news."))
