"""The reviewers of a project: people who may see answers and decide tasks."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.review.reviewers import Reviewers
from crowdd.errors import NotFoundError
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.tasks.review.rows import Reviewer

_AT = "/project/<short_name>/reviewers"


class ReviewersPublic(ProjectPublic, WithForm, Message):
    reviewers: list[Reviewer]


class ReviewersPrivate(ProjectPrivate):
    """``link`` is the address of the review, to send to them."""

    link: str


class ReviewerPages:
    """``/project/<short_name>/reviewers``."""

    def __init__(self, projects: Projects, reviewers: Reviewers, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._reviewers, self._forms, self._views = projects, reviewers, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.add))
        yield post(f"{_AT}/<name>/remove", locked_out(self.remove))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The list, and a form for one more."""
        row = await self._projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.blank(incoming, "user"))

    async def _page(self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        context = await self._views.context(incoming, row, _("Reviewers"))
        public = ReviewersPublic(
            **context.public, reviewers=await self._reviewers.listed(row["id"]), form=form, **message
        )
        link = f"{self._views.address(row)}review"
        return Page("project/reviewers.html", public, ReviewersPrivate(**context.private, link=link))

    async def add(self, incoming: Incoming, short_name: str) -> Response:
        """Makes the account with the user name ``user`` a reviewer."""
        row = await self._projects.owned(short_name, incoming.who)
        name = incoming.field("user").strip()
        try:
            done = await self._reviewers.add(row["id"], row["owners_ids"], name, incoming.who)
        except NotFoundError:
            wrong = _("No account has the user name “%(name)s”.", name=name) if name else _("Please fill this in.")
            return await self._page(incoming, row, self._forms.refused(incoming, {"user": [wrong]}, "user"), MISTAKES)
        words = _("%(name)s is now a reviewer.", name=name)
        return _back(short_name, words if done else _("%(name)s can review tasks already.", name=name), done)

    async def remove(self, incoming: Incoming, short_name: str, name: str) -> Response:
        """Takes the right of a reviewer away."""
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._reviewers.remove(row["id"], name, incoming.who)
        words = _("%(name)s is no longer a reviewer.", name=name)
        return _back(short_name, words if done else _("%(name)s is not a reviewer.", name=name), done)


def _back(short_name: str, words: str, done: bool) -> Response:
    return Redirect(f"/project/{quote(short_name)}/reviewers", words, "success" if done else "info")
