"""What all pages of a project share: the keys of the interface, and the lock in front of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import attrs

from crowdd.domain.core.text.relative_time import ago
from crowdd.domain.core.text.rendered_text import Laid
from crowdd.domain.projects.projects import link_word
from crowdd.domain.projects.serializers import person
from crowdd.domain.server.services import Services
from crowdd.errors import ForbiddenError
from crowdd.http import queries
from crowdd.http.pages.omitted_pictures import LeftOut
from crowdd.http.request import Incoming
from crowdd.http.responses import Redirect, Response
from crowdd.http.routing import Handler
from crowdd.kinds import BLOGPOST, PROJECT
from crowdd.kinds.kind import OWNERS
from crowdd.languages import _
from crowdd.storage.core.listing import Query, equal
from crowdd.storage.projects.rows import ProjectPage

_SEPARATORS = re.compile(r"[\s,;]+")


@attrs.frozen
class ProjectViews:
    """The keys that all pages of a project share (interface: page-project-common)."""

    services: Services

    async def context(self, incoming: Incoming, row: ProjectPage) -> dict[str, Any]:
        """Figures, owner and project as the requester may see them."""
        owns = bool(row["roles"] & OWNERS)
        records = self.services.records
        project = records.view(PROJECT, row) if owns else records.public_view(PROJECT, row)
        return {
            "title": row["name"],
            "project": project,
            "owner": await self.owner(incoming, row),
            "last_activity": ago(row["last_activity_raw"]),
            "_last_activity": row["last_activity_raw"],  # people read it in words of their own language
            "n_tasks": int(row["n_tasks"]),
            "n_completed_tasks": int(row["n_completed_tasks"]),
            "n_task_runs": int(row["n_task_runs"]),
            "n_volunteers": int(row["n_volunteers"]),
            "overall_progress": int(row["overall_progress"]),
            "pro_features": {"auditlog_enabled": owns, "autoimporter_enabled": False, "webhooks_enabled": owns},
            "_paused": row["first_published"] is not None and not row["published"],
            "_try_link": self.try_link(row) if owns else None,
        }

    def try_link(self, row: ProjectPage) -> str | None:
        """The address by which others can try a draft; None for a project that was published."""
        word = link_word(row)
        base = self.services.settings.base_url.rstrip("/")
        return None if word is None else f"{base}/project/{quote(row['short_name'])}/?try={word}"

    async def posts(
        self, incoming: Incoming, row: ProjectPage, maximum: int, before: str = ""
    ) -> tuple[list[dict[str, Any]], bool]:
        """The newest blog posts that the requester may see, or those before one, and whether there are more."""
        last_id = queries.number(before, "last_id", 0) if before else None
        of_project = equal(BLOGPOST, project_id=row["id"])
        query = Query(BLOGPOST, of_project, descending=True, limit=maximum + 1, last_id=last_id)
        posts = await self.services.records.list(query, incoming.who)
        return posts[:maximum], len(posts) > maximum

    async def prose(self, descriptions: Iterable[str], posts: Iterable[Mapping[str, Any]] = ()) -> Laid:
        """The HTML of long descriptions and of the bodies of blog posts."""
        described = await self.services.prose.of(descriptions, PROJECT.field("long_description").heading)
        posted = await self.services.prose.of((post["body"] for post in posts), BLOGPOST.field("body").heading)
        return {**described, **posted}

    async def pictures(self, incoming: Incoming, row: ProjectPage, text: str | None) -> dict[str, Any]:
        """What the editor of a text shows of pictures: those of the project, and those that the text names in vain."""
        found = await self.services.project_pictures.page(incoming.who, row)
        return {
            "_pictures": found.pictures,
            "_may_add": self.services.project_pictures.may_add(row),
            "_left_out": await LeftOut(self.services).of(text),
        }

    async def owner(self, incoming: Incoming, row: ProjectPage) -> dict[str, Any]:
        """The owner's record: everything for himself, public figures for others."""
        found = await self.services.accounts.profile(row["owner_id"])
        own = row["owner_id"] == incoming.who.acting_user
        return person(
            found,
            api_key=self.services.accounts.api_key(found) if own and incoming.who.sees_own_key else None,
            private=own,
        )


def locked_out(handler: Handler) -> Handler:
    """The handler, with a locked project answered by its password page (for programs: by the error)."""

    async def opened(incoming: Incoming, short_name: str, **names: Any) -> Response:
        try:
            return await handler(incoming, short_name=short_name, **names)
        except ForbiddenError as error:
            if error.code != "project_password" or incoming.wants_json:
                raise
            return Redirect(f"/project/{quote(short_name)}/password?next={quote(incoming.path)}")

    return opened


def numbers_in(text: str) -> list[str]:
    """The numbers of tasks in a text that separates them by commas or blanks, as they stand there."""
    return [word for word in _SEPARATORS.split(text) if word]


def ticked(incoming: Incoming) -> list[str]:
    """The tasks that an address names (``task_ids``, also several times: a list with boxes sends them so)."""
    return [word for text in incoming.all_of("task_ids") for word in numbers_in(text)]


def none_ticked(incoming: Incoming, short_name: str) -> Redirect | None:
    """The way back to the list when its boxes were meant and none of them is ticked: nothing is not everything."""
    if "ticked" not in incoming.query or ticked(incoming):
        return None
    return Redirect(f"/project/{quote(short_name)}/tasks/browse", _("Select tasks first."), "error")
