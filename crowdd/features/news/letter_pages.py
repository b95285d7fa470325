"""The page on which an owner sends a blog post as a letter."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.core.text.rendered_text import Laid
from crowdd.features.news.letters import MAX_COUNTED, OwnerLetters
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.types import iso

_AT = "/project/<short_name>/<int:post_id>/letter"


class LetterPublic(ProjectPublic, WithForm):
    """``sent``: when this post was sent; ``again``: when the project may send its next letter, None: now.

    ``readers`` are counted up to ``at_most``.
    """

    blogpost: Values
    sent: str | None
    again: str | None
    readers: int
    at_most: int


class LetterPrivate(ProjectPrivate):
    prose: Laid


class LetterPages:
    """``/project/<short_name>/<post_id>/letter``, for owners."""

    def __init__(self, projects: Projects, letters: OwnerLetters, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._letters, self._forms, self._views = projects, letters, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.ask))
        yield post(_AT, locked_out(self.send))

    async def ask(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        """Shows the letter, and how many people get it."""
        row = await self._projects.page(short_name, incoming.who)
        blogpost = await self._letters.post(incoming.who, row, post_id)
        state = await self._letters.state(row, post_id)
        context = await self._views.context(incoming, row)
        public = LetterPublic(
            **context.public,
            blogpost=blogpost,
            sent=iso(state["sent"]) if state["sent"] else None,
            again=iso(state["again"]) if state["again"] else None,
            readers=state["readers"],
            at_most=MAX_COUNTED,
            form=self._forms.blank(incoming),
        )
        private = LetterPrivate(**context.private, prose=await self._views.prose([], [blogpost]))
        return Page("project/letter.html", public, private)

    async def send(self, incoming: Incoming, short_name: str, post_id: int) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        await self._letters.send(incoming.who, row, post_id)
        return Redirect(incoming.path, _("The letter is on its way."))
