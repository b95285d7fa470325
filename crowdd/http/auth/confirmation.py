"""GET addresses with an effect: programs act by them, people are shown a page with one button.

Some addresses of the interface change something by GET. A link or a picture in anybody's text makes a browser ask for
them with its owner's cookie, so a browser gets a page with a button that posts instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypedDict

import attrs

from crowdd.http.auth.csrf import Csrf
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Handler
from crowdd.kernel.errors import ForbiddenError
from crowdd.kernel.languages import _


@attrs.frozen
class Question:
    """What the page asks: its title, a sentence that says what will happen, and the words of the button."""

    title: str
    text: str
    button: str


class _Button(TypedDict):
    text: str
    button: str


Ask = Callable[..., Awaitable[Question]]
"""Makes the question from the names in the address; raises what the handler would raise for them."""


@attrs.frozen
class Confirm:
    """Puts a page with one button before handlers of GET that change something."""

    csrf: Csrf

    def first(self, handler: Handler, ask: Ask) -> Handler:
        """The handler for callers that no page of another site can imitate, and the page with the button for browsers.

        Raises ForbiddenError for other callers that want JSON.
        """

        async def asked(incoming: Incoming, **names: object) -> Response:
            if self.acts(incoming):
                return await handler(incoming, **names)
            return self.page(incoming, await ask(**names))

        return asked

    def acts(self, incoming: Incoming) -> bool:
        """Whether a GET may act: it says ``Content-Type: application/json``, or carries a form's token or an API key.

        A link, a picture or a form can send none of the three. Raises InvalidRequestError for a token that is not ours.
        """
        if incoming.content_type == "application/json" or (incoming.who.signed_in and not incoming.by_cookie):
            return True
        if not incoming.header("x-csrftoken"):
            return False
        self.csrf.check(incoming)
        return True

    def page(self, incoming: Incoming, question: Question) -> Response:
        """The page with the button, which posts to the same address. Raises ForbiddenError for who wants JSON."""
        refuse_json(incoming)
        button = _Button(text=question.text, button=question.button)
        return Page("confirm.html", Titled(title=question.title), button)


def refuse_json(incoming: Incoming) -> None:
    """Raises ForbiddenError for a caller that wants JSON: a page with a button is of no use to it."""
    if incoming.wants_json:
        hint = "Send Content-Type: application/json, or POST to this address."
        raise ForbiddenError(_("Use the button on the page."), code="cross_site", hint=hint)
