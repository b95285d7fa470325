"""Everything that an owner may set, in one place; and the key for external users."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.domain import Domain
from crowdd.domain.summaries import person
from crowdd.http.answers import Answer, Page, Redirect
from crowdd.http.forms import Forms
from crowdd.http.incoming import Incoming
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.routing import Route, get, post
from crowdd.kinds import PROJECT
from crowdd.languages import _


class ProjectSettingsPages:
    """``/project/<short_name>/settings`` and ``…/resetsecretkey``."""

    def __init__(self, domain: Domain, forms: Forms, views: ProjectViews) -> None:
        self._domain, self._forms, self._views = domain, forms, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/settings", locked_out(self.settings))
        yield post("/project/<short_name>/resetsecretkey", locked_out(self.reset_secret_key))

    async def settings(self, incoming: Incoming, short_name: str) -> Answer:
        """The project page's keys, for those who may change the project (interface)."""
        row = await self._domain.projects.owned(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        owners = await self._domain.ownership.owners(row)
        shown = [person(each) | {"is_creator": each["is_creator"]} for each in owners]
        deletes = bool(row["standings"] & PROJECT.rights.delete)
        locked = row["lock_id"] is not None
        return Page("project/settings.html", **context, _coowners=shown, _locked=locked, _deletes=deletes)

    async def reset_secret_key(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._domain.projects.owned(short_name, incoming.who)
        await self._domain.ownership.reset_secret_key(row, incoming.who)
        words = _("A new secret key is in use. What was signed with the old one ends.")
        return Redirect(f"/project/{quote(short_name)}/settings", words)
