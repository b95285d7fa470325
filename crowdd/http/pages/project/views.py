"""What all pages of a project share: their context, and the password of a locked project."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import NotRequired, TypedDict
from urllib.parse import quote

import attrs

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.core.records import Records
from crowdd.domain.core.text.relative_time import ago
from crowdd.domain.core.text.rendered_text import Laid, Prose
from crowdd.domain.projects.project_pictures import ProjectPictures
from crowdd.domain.projects.projects import link_word
from crowdd.domain.projects.serializers import person
from crowdd.errors import ForbiddenError
from crowdd.http import queries
from crowdd.http.pages.omitted_pictures import LeftOut, OmittedPicture
from crowdd.http.request import Incoming
from crowdd.http.responses import Redirect, Response, Titled
from crowdd.http.routing import Handler
from crowdd.kinds.blogpost import BLOGPOST
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import OWNERS
from crowdd.languages import _
from crowdd.storage.core.listing import Query, equal
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

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
    """What all templates of a project get beside it. They write ``last_activity`` in the reader's language."""

    last_activity: datetime | None
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
        self, incoming: Incoming, row: ProjectPage, maximum: int, before: str = ""
    ) -> tuple[list[Values], bool]:
        """The newest blog posts that the requester may see, or those before one, and whether there are more."""
        last_id = queries.number(before, "last_id", 0) if before else None
        of_project = equal(BLOGPOST, project_id=row["id"])
        query = Query(BLOGPOST, of_project, descending=True, limit=maximum + 1, last_id=last_id)
        posts = await self.records.list(query, incoming.who)
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


def ticked(incoming: Incoming) -> list[str]:
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
    if "ticked" not in incoming.query or ticked(incoming) or all_matching(incoming):
        return None
    return Redirect(f"/project/{quote(short_name)}/tasks/browse", _("Select tasks first."), "error")
