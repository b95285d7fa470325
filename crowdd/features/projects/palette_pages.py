"""What the command palette shows (interface: page-palette). Its script is ``static/commands/palette.js``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypedDict
from urllib.parse import quote

import attrs

from crowdd.features.projects.project_lists import Matches, Palette
from crowdd.features.projects.rows import ProjectName
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get
from crowdd.kernel.languages import Languages, _
from crowdd.kernel.requester import Requester
from crowdd.kinds.types import clean_text

Destinations = Sequence[tuple[str, str]]
"""Pairs of an address, or its end, and its English name."""

_PROJECT: Final[Destinations] = (
    ("", _("About")),
    ("results", _("Results")),
    ("stats", _("Statistics")),
    ("tasks/", _("Tasks")),
    ("tasks/browse", _("Browse tasks")),
    ("tasks/import", _("Import")),
    ("tasks/export", _("Export")),
    ("data", _("Use this data")),
    ("blog", _("Blog")),
    ("volunteers", _("Volunteers")),
    ("publish", _("Publish")),
    ("coowners", _("Co-owners")),
    ("settings", _("Settings")),
)
_SITE: Final[Destinations] = (
    ("/", _("Projects")),
    ("/project/new", _("Start a project")),
    ("/leaderboard/", _("Leaderboard")),
    ("/stats/", _("Statistics")),
    ("/announcements/", _("Announcements")),
    ("/help/", _("Help")),
    ("/api/docs", _("API")),
)
_ACCOUNT: Final[Destinations] = (
    ("answers", _("Answers")),
    ("favourites", _("Favourites")),
    ("collections", _("Collections")),
    ("projects", _("My projects")),
    ("update", _("Settings")),
    ("security", _("Security")),
    ("passkeys", _("Passkeys")),
    ("authenticator", _("Authenticator app")),
    ("tokens", _("API tokens")),
    ("sessions", _("Sessions")),
    ("export", _("Your data")),
)
_ADMINISTRATION: Final[Destinations] = (
    ("/admin/dashboard/", _("Today")),
    ("/admin/site", _("Site")),
    ("/admin/users", _("People")),
    ("/admin/featured", _("Featured")),
    ("/admin/categories", _("Categories")),
    ("/admin/announcement", _("Announcements")),
    ("/admin/jobs", _("Jobs")),
    ("/admin/queue", _("Queue")),
    ("/admin/mail", _("Mail")),
    ("/admin/webhooks", _("Webhooks")),
    ("/admin/audit", _("Audit log")),
    ("/admin/security", _("Security log")),
)


class Entry(TypedDict):
    """One thing to go to. ``words`` and ``group`` are in the reader's language."""

    group: str
    words: str
    note: str
    address: str


class Found(TypedDict):
    """The whole response."""

    entries: list[Entry]


@attrs.frozen
class PalettePages:
    """``/palette``. ``settings``: paths below a project and what its settings page calls them."""

    _palette: Palette
    _languages: Languages
    _settings: Destinations

    def routes(self) -> Iterator[Route]:
        yield get("/palette", self.find, page=False)

    async def find(self, incoming: Incoming) -> Response:
        """Projects and tasks that match ``q``; without ``q`` the pages that the requester can go to, too."""
        query, locale = incoming.query, locale_of(incoming)
        text = clean_text(query.get("q", "")).strip()
        recent = [name for name in clean_text(query.get("recent", "")).split(",") if name]
        matches = await self._palette.find(incoming.who, text, clean_text(query.get("project", "")), recent)
        entries = [*self._task(matches, locale)]
        if not text and matches.project is not None:
            entries += self._pages(matches.project, locale)
        entries += self._projects(matches, locale)
        if not text:
            entries += self._general_pages(incoming.who, locale)
        return JsonResponse(Found(entries=entries))

    def _task(self, matches: Matches, locale: str) -> Iterator[Entry]:
        if matches.task is not None:
            words = self._say(_("Task %(number)s", number=matches.task["id"]), locale)
            address = f"{_at(matches.task['short_name'])}tasks/{matches.task['id']}"
            yield Entry(group=self._say(_("Tasks"), locale), words=words, note=matches.task["name"], address=address)

    def _pages(self, project: ProjectName, locale: str) -> Iterator[Entry]:
        at, named = _at(project["short_name"]), {str(name) for _path, name in _PROJECT}
        for path, name in (*_PROJECT, *(setting for setting in self._settings if setting[1] not in named)):
            yield Entry(group=project["name"], words=self._say(name, locale), note="", address=f"{at}{path}")

    def _projects(self, matches: Matches, locale: str) -> Iterator[Entry]:
        group, draft = self._say(_("My projects"), locale), self._say(_("Not published"), locale)
        for project in matches.projects:
            note = "" if project["published"] else draft
            yield Entry(group=group, words=project["name"], note=note, address=_at(project["short_name"]))

    def _general_pages(self, who: Requester, locale: str) -> Iterator[Entry]:
        own = f"/account/{quote(who.user_name, safe='')}/"
        account = [("/account/profile", _("Profile")), *((f"{own}{path}", name) for path, name in _ACCOUNT)]
        groups = [(_("Site"), _SITE), (_("Your account"), account)]
        if who.acting_admin:
            groups.append((_("Administration"), _ADMINISTRATION))
        for group, pages in groups:
            for address, name in pages:
                yield Entry(group=self._say(group, locale), words=self._say(name, locale), note="", address=address)

    def _say(self, words: str, locale: str) -> str:
        return self._languages.say(words, locale)


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name, safe='')}/"
