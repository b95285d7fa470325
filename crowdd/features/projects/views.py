"""What pages of projects share: context and lock, access of administrators, invitations, and left-out pictures.

The editor and the message after saving report pictures that a text names but that are not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NotRequired, TypedDict
from urllib.parse import quote

import attrs

from crowdd.core.records import rights
from crowdd.core.records.listing_statements import Query, equal
from crowdd.core.records.records import Records
from crowdd.core.text.rendered_text import Laid, Prose
from crowdd.core.text.words import ago
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.projects.pictures import MAX_NAMED, ProjectPictures, why_left_out
from crowdd.features.projects.projects import link_word
from crowdd.features.projects.rows import Invitation, ProjectPage
from crowdd.features.projects.serializers import person
from crowdd.http import queries
from crowdd.http.errors import message_of
from crowdd.http.request import Incoming
from crowdd.http.responses import Message, Redirect, Response, Titled
from crowdd.http.routing import Handler
from crowdd.kernel.errors import ConflictError, ForbiddenError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.blogpost import BLOGPOST
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import ADMINS, OWNERS
from crowdd.kinds.types import iso


class OmittedPicture(TypedDict):
    """A picture that is not shown. ``why`` is a word of ``why_left_out``."""

    address: str
    why: str


@attrs.frozen
class LeftOut:
    """Finds such pictures in texts of one site."""

    prose: Prose
    base_url: str

    async def of(self, text: str | None) -> list[OmittedPicture]:
        """The first MAX_NAMED of them."""
        addresses = (await self.prose.left_out(text or ""))[:MAX_NAMED]
        return [OmittedPicture(address=address, why=why_left_out(address, self.base_url)) for address in addresses]

    async def after(self, text: str, words: str) -> tuple[str, str]:
        """The message after a text was stored, and its status. ``words`` is the message if all pictures are shown."""
        lost = len(await self.prose.left_out(text))
        if not lost:
            return words, "success"
        if lost == 1:
            return _("Saved. One picture of the text is not shown: open the text again to read why."), "warning"
        many = _("Saved. %(count)s pictures of the text are not shown: open the text again to read why.", count=lost)
        return many, "warning"


_SEPARATORS = re.compile(r"[\s,;]+")


class ProFeatures(TypedDict):
    """The features that the requester has on a project."""

    auditlog_enabled: bool
    autoimporter_enabled: bool
    webhooks_enabled: bool
    better_stats_enabled: NotRequired[bool]


class ProjectPublic(Titled):
    """The keys that all pages of a project share (interface: page-project-common)."""

    project: Values
    owner: Values
    last_activity: str | None
    n_tasks: int
    n_completed_tasks: int
    n_task_runs: int
    n_volunteers: int
    overall_progress: int
    pro_features: ProFeatures


class ProjectPrivate(TypedDict):
    """What all templates of a project get beside it. They write ``last_activity`` in the reader's language.

    ``translated`` has the languages of attributes of the project that are translated.
    """

    last_activity: datetime | None
    translated: dict[str, str]
    paused: bool
    try_link: str | None


class EditorPictures(TypedDict):
    """Pictures for the editor of a text: those of the project, and those that the text names in vain."""

    pictures: list[Values]
    may_add: bool
    left_out: list[OmittedPicture]


@attrs.frozen
class ProjectContext:
    """The context that all pages of a project share. Each page has TypedDicts that extend the two."""

    public: ProjectPublic
    private: ProjectPrivate


@attrs.frozen
class ProjectViews:
    """Makes what the pages of a project share."""

    records: Records
    accounts: Accounts
    text_renderer: Prose
    project_pictures: ProjectPictures
    left_out: LeftOut
    base_url: str

    async def context(self, incoming: Incoming, row: ProjectPage, title: str = "") -> ProjectContext:
        """Figures, owner and project as the requester may see them. ``title`` replaces the name of the project."""
        owns = bool(row["roles"] & OWNERS)
        project = self.records.view(PROJECT, row) if owns else self.records.public_view(PROJECT, row)
        public = ProjectPublic(
            title=title or row["name"],
            project=project,
            owner=await self.owner(incoming, row),
            last_activity=ago(row["last_activity_raw"]),
            n_tasks=int(row["n_tasks"]),
            n_completed_tasks=int(row["n_completed_tasks"]),
            n_task_runs=int(row["n_task_runs"]),
            n_volunteers=int(row["n_volunteers"]),
            overall_progress=int(row["overall_progress"]),
            pro_features={"auditlog_enabled": owns, "autoimporter_enabled": False, "webhooks_enabled": owns},
        )
        private = ProjectPrivate(
            last_activity=row["last_activity_raw"],
            translated=row.get("translated", {}),
            paused=row["first_published"] is not None and not row["published"],
            try_link=self.try_link(row) if owns else None,
        )
        return ProjectContext(public, private)

    def try_link(self, row: ProjectPage) -> str | None:
        """The address by which others can try a draft; None for a project that was published."""
        word = link_word(row)
        return None if word is None else f"{self.address(row)}?try={word}"

    def address(self, row: ProjectPage) -> str:
        """The whole address of a project's page."""
        return f"{self.base_url.rstrip('/')}/project/{quote(row['short_name'])}/"

    async def posts(
        self, who: Requester, row: ProjectPage, maximum: int, before: str = ""
    ) -> tuple[list[Values], bool]:
        """The newest blog posts that the requester may see, or those before one, and whether there are more."""
        last_id = queries.parse_number(before, "last_id", 0) if before else None
        of_project = equal(BLOGPOST, project_id=row["id"])
        query = Query(BLOGPOST, of_project, descending=True, limit=maximum + 1, last_id=last_id)
        posts = await self.records.list(query, who)
        return posts[:maximum], len(posts) > maximum

    async def prose(self, descriptions: Iterable[str], posts: Iterable[Values] = ()) -> Laid:
        """The HTML of long descriptions and of the bodies of blog posts."""
        described = await self.text_renderer.of(descriptions, PROJECT.field("long_description").heading)
        posted = await self.text_renderer.of((post["body"] for post in posts), BLOGPOST.field("body").heading)
        return {**described, **posted}

    async def pictures(self, incoming: Incoming, row: ProjectPage, text: str | None) -> EditorPictures:
        """The pictures for the editor of a text."""
        picture_page = await self.project_pictures.page(incoming.who, row)
        return EditorPictures(
            pictures=picture_page.pictures,
            may_add=self.project_pictures.may_add(row),
            left_out=await self.left_out.of(text),
        )

    async def owner(self, incoming: Incoming, row: ProjectPage) -> Values:
        """The owner's record: whole for the owner, the public part for others."""
        account = await self.accounts.profile(row["owner_id"])
        own = row["owner_id"] == incoming.who.acting_user
        return person(account, api_key=self.accounts.own_key(account, incoming.who), private=own)


def locked_out(handler: Handler) -> Handler:
    """The handler, with a redirect to the password page for a locked project. Programs get the error."""

    async def opened(incoming: Incoming, short_name: str, **names: object) -> Response:
        try:
            return await handler(incoming, short_name=short_name, **names)
        except ForbiddenError as error:
            if error.code != "project_password" or incoming.wants_json:
                raise
            return Redirect(f"/project/{quote(short_name)}/password?next={quote(incoming.path)}")

    return opened


def numbers_in(text: str) -> list[str]:
    """The words of a text that separates numbers of tasks by commas or spaces."""
    return [word for word in _SEPARATORS.split(text) if word]


def ticked_tasks(incoming: Incoming) -> list[str]:
    """The tasks that an address names in ``task_ids``. A form with boxes sends the name several times.

    With ``scope=page`` it is about all on the page of the list that it came from (``page_ids``).
    """
    named = (
        [incoming.query.get("page_ids", "")] if incoming.query.get("scope") == "page" else incoming.all_of("task_ids")
    )
    return [word for text in named for word in numbers_in(text)]


def all_matching(incoming: Incoming) -> str:
    """The filters of the list if an address is about all tasks that match, otherwise an empty text."""
    return incoming.query.get("matching", "") if incoming.query.get("scope") == "matching" else ""


def none_ticked(incoming: Incoming, short_name: str) -> Redirect | None:
    """A redirect to the list if its form was sent with no box ticked. No box ticked does not mean all tasks."""
    if "ticked" not in incoming.query or ticked_tasks(incoming) or all_matching(incoming):
        return None
    return Redirect(f"/project/{quote(short_name)}/tasks/browse", _("Select tasks first."), "error")


MAX_CHARACTERS = 255


def admins_only(handler: Handler) -> Handler:
    """The handler for administrators only. Others are refused, or sent to sign in, before the handler runs."""

    async def allowed(incoming: Incoming, **names: object) -> Response:
        rights.require(incoming.who, rights.of_requester(incoming.who), ADMINS)
        return await handler(incoming, **names)

    return allowed


def field_errors(incoming: Incoming, maximum: Mapping[str, int | None]) -> dict[str, list[str]]:
    """The mistakes in required fields of a form. ``maximum`` has the greatest number of characters per field."""
    errors: dict[str, list[str]] = {}
    for name, limit in maximum.items():
        text = incoming.field(name).strip()
        if not text:
            errors[name] = [_("Please fill this in.")]
        elif limit is not None and len(text) > limit:
            errors[name] = [_("Use at most %(maximum)s characters.", maximum=limit)]
    return errors


def taken_name_errors(error: ConflictError) -> dict[str, list[str]]:
    """The mistake for a name that is in use."""
    return {"name": [message_of(error)]}


class NewInvitation(TypedDict, total=False):
    """The link of an invitation that was just made."""

    invitation_url: str


def invitation_link(base_url: str, short_name: str, key: str) -> str:
    """The link of an invitation with this key."""
    return f"{base_url.rstrip('/')}/project/{quote(short_name)}/invitation?key={key}"


def open_until(invitation: Invitation | None) -> str | None:
    """When an open invitation expires."""
    return iso(invitation["expires"]) if invitation else None


def new_link_message() -> Message:
    """What the page with a new link says."""
    return Message(flash=_("The invitation is ready: send the link to one person."), status="success")
