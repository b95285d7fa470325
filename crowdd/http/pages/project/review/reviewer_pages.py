"""The reviewers of a project: people who may see answers and decide tasks."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.review.reviewers import Reviewers
from crowdd.errors import NotFoundError
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.project.invitations import NewInvitation, invitation_link, open_until, ready
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.tasks.review.rows import Reviewer

_AT = "/project/<short_name>/reviewers"


class ReviewersPublic(ProjectPublic, WithForm, Message, NewInvitation):
    """``invitation`` is when the open invitation expires."""

    reviewers: list[Reviewer]
    invitation: str | None


class ReviewersPrivate(ProjectPrivate):
    """``address`` is that of the review, to send to them; ``link`` that of a new invitation, shown only once."""

    address: str
    link: str | None


class ReviewerPages:
    """``/project/<short_name>/reviewers``."""

    def __init__(
        self, projects: Projects, reviewers: Reviewers, base_url: str, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._reviewers, self._base_url = projects, reviewers, base_url
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page), manages=True)
        yield post(_AT, locked_out(self.add), manages=True)
        yield post(f"{_AT}/invite", locked_out(self.invite), manages=True)
        yield post(f"{_AT}/withdraw", locked_out(self.withdraw), manages=True)
        yield post(f"{_AT}/<name>/remove", locked_out(self.remove), manages=True)

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The list, and a form for one more."""
        row = await self._projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.blank(incoming, "user"))

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        form: Form,
        message: Message = NO_MESSAGE,
        link: str | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row, _("Reviewers"))
        made: NewInvitation = {} if link is None else {"invitation_url": link}
        public = ReviewersPublic(
            **context.public,
            **made,
            reviewers=await self._reviewers.listed(row["id"]),
            invitation=open_until(await self._reviewers.invitation(row["id"])),
            form=form,
            **message,
        )
        private = ReviewersPrivate(**context.private, address=f"{self._views.address(row)}review", link=link)
        return Page("project/reviewers.html", public, private)

    async def invite(self, incoming: Incoming, short_name: str) -> Response:
        """Makes an invitation. Its link is shown only once; programs get it as ``invitation_url``."""
        row = await self._projects.owned(short_name, incoming.who)
        link = invitation_link(self._base_url, row["short_name"], await self._reviewers.invite(row["id"], incoming.who))
        return await self._page(incoming, row, self._forms.blank(incoming, "user"), ready(), link)

    async def withdraw(self, incoming: Incoming, short_name: str) -> Response:
        """Ends the open invitation."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._reviewers.withdraw(row["id"], incoming.who)
        return _back(short_name, _("The invitation is withdrawn."), True)

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
