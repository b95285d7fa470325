"""The newsletter: a question, and the answer to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.accounts.profiles import Profiles
from crowdd.errors import InvalidValueError
from crowdd.http.auth.confirmation import Confirm, refuse_json
from crowdd.http.html.forms import Form, Forms
from crowdd.http.pages.account.access import me
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.languages import _

_WORDS = {"true": True, "false": False}


class NewsletterPublic(Titled):
    """``next`` is where a front end goes after the choice."""

    next: str


class NewsletterPrivate(TypedDict):
    form: Form


class NewsletterPages:
    """/account/newsletter."""

    def __init__(self, profiles: Profiles, forms: Forms) -> None:
        self._profiles, self._forms, self._confirm = profiles, forms, Confirm(forms.csrf)

    def routes(self) -> Iterator[Route]:
        yield get("/account/newsletter", self.newsletter)
        yield post("/account/newsletter", self.answer_newsletter)

    async def newsletter(self, incoming: Incoming) -> Response:
        """The question. Programs may answer with ``subscribe`` in the address; browsers must use the form."""
        person = me(incoming)
        if "subscribe" in incoming.query:
            if self._confirm.acts(incoming):
                return await self._subscribe(person, incoming.query["subscribe"])
            refuse_json(incoming)
        await self._profiles.subscribe(person, None)
        public = NewsletterPublic(title=_("Newsletter"), next="/")
        return Page("account/newsletter.html", public, NewsletterPrivate(form=self._forms.blank(incoming)))

    async def answer_newsletter(self, incoming: Incoming) -> Response:
        return await self._subscribe(me(incoming), incoming.field("subscribe"))

    async def _subscribe(self, person: int, choice: str) -> Response:
        wanted = _WORDS.get(choice.strip().lower())
        if wanted is None:
            raise InvalidValueError("subscribe must be true or false.")
        await self._profiles.subscribe(person, wanted)
        return Redirect(
            "/",
            _("You are subscribed to the newsletter.") if wanted else _("You are not subscribed to the newsletter."),
        )
