"""A project's own page, and what its owner does there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import attrs

from crowdd.domain.domain import Domain
from crowdd.domain.summaries import person
from crowdd.domain.words import ago
from crowdd.errors import ForbiddenError
from crowdd.http.answers import Answer, Page, Redirect
from crowdd.http.cookies import Cookies
from crowdd.http.forms import Forms, local
from crowdd.http.incoming import Incoming
from crowdd.http.routing import Handler, Route, get, post
from crowdd.kinds import PROJECT
from crowdd.kinds.kind import OWNERS
from crowdd.languages import _
from crowdd.storage.database import Row

UNLOCKED_SECONDS = 1800


@attrs.frozen
class ProjectViews:
    """The keys that all pages of a project share (interface, GET /project/<short_name>/)."""

    domain: Domain

    async def context(self, incoming: Incoming, row: Row) -> dict[str, Any]:
        """Figures, owner and project as the requester may see them."""
        owns = bool(row["standings"] & OWNERS)
        records = self.domain.records
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
        }

    async def owner(self, incoming: Incoming, row: Row) -> dict[str, Any]:
        """The owner's record: everything for himself, public figures for others."""
        found = await self.domain.accounts.profile(row["owner_id"])
        own = row["owner_id"] == incoming.who.acting_user
        return person(found, api_key=self.domain.accounts.api_key(found) if own else None, private=own)


def locked_out(handler: Handler) -> Handler:
    """The handler, with a locked project answered by its password page (for programs: by the error)."""

    async def opened(incoming: Incoming, short_name: str, **names: Any) -> Answer:
        try:
            return await handler(incoming, short_name=short_name, **names)
        except ForbiddenError as error:
            if error.code != "project_password" or incoming.wants_json:
                raise
            return Redirect(f"/project/{quote(short_name)}/password?next={quote(incoming.path)}")

    return opened


class ProjectPages:
    """The project page, publishing, pausing and the password."""

    def __init__(self, domain: Domain, forms: Forms, cookies: Cookies, views: ProjectViews) -> None:
        self._projects, self._forms, self._cookies, self._views = domain.projects, forms, cookies, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/", locked_out(self.page))
        yield get("/project/<short_name>/publish", locked_out(self.publish_form))
        yield post("/project/<short_name>/publish", locked_out(self.publish))
        yield post("/project/<short_name>/pause", locked_out(self.pause))
        yield get("/project/<short_name>/password", self.password_form)
        yield post("/project/<short_name>/password", self.password)

    async def page(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._projects.page(short_name, incoming.who)
        return Page("project/index.html", **await self._views.context(incoming, row))

    async def publish_form(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._projects.owned(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        return Page("project/publish.html", csrf=self._forms.csrf.token(incoming), **context)

    async def publish(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._projects.publish(row, incoming.who)
        words = _("Project published. Volunteers can find it now.") if done else _("Project already published.")
        return Redirect(f"/project/{quote(short_name)}/", words, "success" if done else "info")

    async def pause(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._projects.pause(row, incoming.who)
        words = _("Project paused. Answers on their way still count.") if done else _("The project is not published.")
        return Redirect(f"/project/{quote(short_name)}/", words, "success" if done else "info")

    async def password_form(self, incoming: Incoming, short_name: str) -> Answer:
        return self._password_page(incoming, short_name, self._forms.blank(incoming, "password"))

    async def password(self, incoming: Incoming, short_name: str) -> Answer:
        """Opens the project in this browser for half an hour."""
        lock = await self._projects.lock_opened_by(short_name, incoming.field("password"), incoming.who)
        if lock is None:
            wrong = {"password": [_("Sorry, this is not the password.")]}
            form = self._forms.refused(incoming, wrong, "password")
            return self._password_page(incoming, short_name, form, flash=wrong["password"][0], status="error")
        self._cookies.unlock(incoming, lock, UNLOCKED_SECONDS)
        return Redirect(local(incoming.query.get("next", ""), f"/project/{quote(short_name)}/"))

    def _password_page(self, incoming: Incoming, short_name: str, form: dict[str, Any], **said: Any) -> Answer:
        project = {"name": short_name, "short_name": short_name}
        return Page("project/password.html", title=_("Password"), project=project, form=form, **said)
