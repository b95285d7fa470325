"""The pages about reviewers of a project, and the invitations to become one or a co-owner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.features.projects.ownership import Ownership, ProjectInvitations
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import (
    NewInvitation,
    ProjectPrivate,
    ProjectPublic,
    ProjectViews,
    invitation_link,
    locked_out,
    new_link_message,
    open_until,
)
from crowdd.features.trust.review import ROLE as REVIEWER
from crowdd.features.trust.review import Reviewers
from crowdd.features.trust.rows import Reviewer
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_REVIEWERS_AT = "/project/<short_name>/reviewers"


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
        yield get(_REVIEWERS_AT, locked_out(self.page), manages=True)
        yield post(_REVIEWERS_AT, locked_out(self.add), manages=True)
        yield post(f"{_REVIEWERS_AT}/invite", locked_out(self.invite), manages=True)
        yield post(f"{_REVIEWERS_AT}/withdraw", locked_out(self.withdraw), manages=True)
        yield post(f"{_REVIEWERS_AT}/<name>/remove", locked_out(self.remove), manages=True)

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
        return await self._page(incoming, row, self._forms.blank(incoming, "user"), new_link_message(), link)

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


class InvitationPublic(Titled, WithForm):
    """``by`` is the name of the person who invites, ``role`` what one becomes: coowner or reviewer."""

    project: Values
    by: str
    role: str


class InvitationPrivate(TypedDict):
    """``here`` is the address of the invitation."""

    here: str


class InvitationPages:
    """``/project/<short_name>/invitation``. People can open it before they sign in."""

    def __init__(
        self, invitations: ProjectInvitations, ownership: Ownership, reviewers: Reviewers, forms: Forms
    ) -> None:
        self._invitations, self._ownership, self._reviewers = invitations, ownership, reviewers
        self._forms = forms

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/invitation", self.invitation)
        yield post("/project/<short_name>/invitation", self.accept)

    async def invitation(self, incoming: Incoming, short_name: str) -> Response:
        """What the link is to."""
        key = incoming.query.get("key", "")
        invited = await self._invitations.invited(key, short_name)
        here = f"/project/{quote(short_name)}/invitation?key={quote(key)}"
        public = InvitationPublic(title=_("Invitation"), form=self._forms.blank(incoming), **invited)
        return Page("project/invitation.html", public, InvitationPrivate(here=here))

    async def accept(self, incoming: Incoming, short_name: str) -> Response:
        """Uses the link up."""
        key = incoming.query.get("key", "") or incoming.field("key")
        if (await self._invitations.invited(key, short_name))["role"] == REVIEWER:
            done = await self._reviewers.accept(key, short_name, incoming.who)
            words = _("You are now a reviewer of this project.") if done else _("You can review tasks already.")
            return Redirect(f"/project/{quote(short_name)}/review", words, "success" if done else "info")
        done = await self._ownership.accept(key, short_name, incoming.who)
        words = _("You are now a co-owner of this project.") if done else _("You are a co-owner already.")
        return Redirect(f"/project/{quote(short_name)}/settings", words, "success" if done else "info")
