"""The pages about reviewers and translators of a project, and the invitations to become one or a co-owner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.features.projects.helpers import Helpers
from crowdd.features.projects.ownership import Ownership, ProjectInvitations
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import Helper, ProjectPage
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
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_PLACES = {"reviewer": "review", "translator": "languages"}
"""Where people with a role work, below the address of the project."""


class HelperLists(TypedDict, total=False):
    """The people of the page's role."""

    reviewers: list[Helper]
    translators: list[Helper]


class HelpersPublic(ProjectPublic, WithForm, Message, NewInvitation, HelperLists):
    """``invitation`` is when the open invitation expires."""

    invitation: str | None


class HelpersPrivate(ProjectPrivate):
    """``people`` with the ``role``; ``address`` is where they work, to send to them.

    ``link`` is that of a new invitation, shown only once.
    """

    role: str
    people: list[Helper]
    address: str
    link: str | None


class HelperPages:
    """``/project/<short_name>/reviewers`` and ``…/translators``."""

    def __init__(self, projects: Projects, helpers: Helpers, base_url: str, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._helpers, self._base_url = projects, helpers, base_url
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        at = f"/project/<short_name>/{self._helpers.role}s"
        yield get(at, locked_out(self.page), manages=True)
        yield post(at, locked_out(self.add), manages=True)
        yield post(f"{at}/invite", locked_out(self.invite), manages=True)
        yield post(f"{at}/withdraw", locked_out(self.withdraw), manages=True)
        yield post(f"{at}/<name>/remove", locked_out(self.remove), manages=True)

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
        role, people = self._helpers.role, await self._helpers.listed(row["id"])
        context = await self._views.context(incoming, row, _("Reviewers") if role == "reviewer" else _("Translators"))
        made: NewInvitation = {} if link is None else {"invitation_url": link}
        named: HelperLists = {"reviewers": people} if role == "reviewer" else {"translators": people}
        public = HelpersPublic(
            **context.public,
            **made,
            **named,
            invitation=open_until(await self._helpers.invitation(row["id"])),
            form=form,
            **message,
        )
        address = f"{self._views.address(row)}{_PLACES[role]}"
        private = HelpersPrivate(**context.private, role=role, people=people, address=address, link=link)
        return Page(f"project/{role}s.html", public, private, drawn_as="project/reviewers.html")

    async def invite(self, incoming: Incoming, short_name: str) -> Response:
        """Makes an invitation. Its link is shown only once; programs get it as ``invitation_url``."""
        row = await self._projects.owned(short_name, incoming.who)
        link = invitation_link(self._base_url, row["short_name"], await self._helpers.invite(row["id"], incoming.who))
        return await self._page(incoming, row, self._forms.blank(incoming, "user"), new_link_message(), link)

    async def withdraw(self, incoming: Incoming, short_name: str) -> Response:
        """Ends the open invitation."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._helpers.withdraw(row["id"], incoming.who)
        return self._back(short_name, _("The invitation is withdrawn."), True)

    async def add(self, incoming: Incoming, short_name: str) -> Response:
        """Gives the account with the user name ``user`` the role."""
        row = await self._projects.owned(short_name, incoming.who)
        name = incoming.field("user").strip()
        try:
            done = await self._helpers.add(row["id"], row["owners_ids"], name, incoming.who)
        except NotFoundError:
            wrong = _("No account has the user name “%(name)s”.", name=name) if name else _("Please fill this in.")
            return await self._page(incoming, row, self._forms.refused(incoming, {"user": [wrong]}, "user"), MISTAKES)
        if self._helpers.role == "translator":
            words = _("%(name)s is now a translator.", name=name)
            return self._back(short_name, words if done else _("%(name)s can translate already.", name=name), done)
        words = _("%(name)s is now a reviewer.", name=name)
        return self._back(short_name, words if done else _("%(name)s can review tasks already.", name=name), done)

    async def remove(self, incoming: Incoming, short_name: str, name: str) -> Response:
        """Takes the role of a person away."""
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._helpers.remove(row["id"], name, incoming.who)
        if self._helpers.role == "translator":
            words = _("%(name)s is no longer a translator.", name=name)
            return self._back(short_name, words if done else _("%(name)s is not a translator.", name=name), done)
        words = _("%(name)s is no longer a reviewer.", name=name)
        return self._back(short_name, words if done else _("%(name)s is not a reviewer.", name=name), done)

    def _back(self, short_name: str, words: str, done: bool) -> Response:
        at = f"/project/{quote(short_name)}/{self._helpers.role}s"
        return Redirect(at, words, "success" if done else "info")


class InvitationPublic(Titled, WithForm):
    """``by`` is the name of the person who invites, ``role`` what one becomes: coowner, reviewer or translator."""

    project: Values
    by: str
    role: str


class InvitationPrivate(TypedDict):
    """``here`` is the address of the invitation."""

    here: str


class InvitationPages:
    """``/project/<short_name>/invitation``. People can open it before they sign in."""

    def __init__(
        self, invitations: ProjectInvitations, ownership: Ownership, helpers: tuple[Helpers, ...], forms: Forms
    ) -> None:
        self._invitations, self._ownership, self._forms = invitations, ownership, forms
        self._helpers = {each.role: each for each in helpers}

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
        role = (await self._invitations.invited(key, short_name))["role"]
        if role in self._helpers:
            done = await self._helpers[role].accept(key, short_name, incoming.who)
            if role == "translator":
                words = _("You are now a translator of this project.") if done else _("You can translate already.")
            else:
                words = _("You are now a reviewer of this project.") if done else _("You can review tasks already.")
            return Redirect(f"/project/{quote(short_name)}/{_PLACES[role]}", words, "success" if done else "info")
        done = await self._ownership.accept(key, short_name, incoming.who)
        words = _("You are now a co-owner of this project.") if done else _("You are a co-owner already.")
        return Redirect(f"/project/{quote(short_name)}/settings", words, "success" if done else "info")
