"""Settings that administrators make on the site's pages, and the version of what visitors may see.

The settings stand above those of crowdd.conf, and every process keeps them in memory. A change is announced by the
change notifier, and each process reads them again; pages never do (record 18).

``exposure`` is a number that changes with every change of rights, locks, publication, names and blocks. The database
counts it for all processes, within the transaction that makes the change. It also tells which visitors see the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, TypeVar

import attrs
from twisted.internet.interfaces import IReactorTime

from crowdd.core import site_statements
from crowdd.core.change_notifier import SITE, ChangeNotifier
from crowdd.core.rows import FirstSteps, HasAnswered, SiteRow
from crowdd.core.text.rendered_text import Laid, Prose
from crowdd.database.access import Database
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.concurrency.throttling import Throttled
from crowdd.kernel.config import Settings
from crowdd.kernel.languages import NAMES, SOURCE
from crowdd.kernel.requester import Requester

T = TypeVar("T")


PAUSE: Final = 0.1  # seconds between two readings
TEXTS: Final[Mapping[str, int]] = {
    "headline": 120,
    "intro": 2_000,
    "about": 20_000,
    "terms": 20_000,
    "privacy": 20_000,
}
"""The texts of a site, each with the characters that it may have in a language."""

HEADING: Final = 2
"""The level of the highest headings in these texts."""

USUAL_REDUNDANCY: Final = 5

NOTHING_SET: Final = SiteRow(0, None, None, None, None, None, None, "open", None, None, {}, False)


@attrs.frozen
class WrittenText:
    """A text of the site, and the language that it is in."""

    text: str
    language: str


@attrs.frozen
class Appearance:
    """What every page shows of the site: its name, and the paths of its logo and its style sheet, or nothing.

    ``map_file``, ``tiles`` and ``attribution`` are those of the map that it offers (``[maps]``).
    """

    name: str = "crowdd"
    logo: str = ""
    style: str = ""
    map_file: str = ""
    tiles: str = ""
    attribution: str = ""


@attrs.frozen
class Usual:
    """What counts where administrators set nothing: crowdd.conf, or the program."""

    name: str
    default_redundancy: int
    signups_per_hour: int
    max_projects: int


@attrs.define
class SiteState:
    """What a process keeps: the settings, and the introduction of the home page as HTML. Its services share it."""

    row: SiteRow = NOTHING_SET
    prose: Laid = attrs.field(factory=dict)

    def keep(self, row: SiteRow, prose: Laid) -> None:
        """Keeps this unless something newer was read meanwhile."""
        if row.version >= self.row.version:
            self.row, self.prose = row, prose


class Site:
    """The settings of the site as they count now: those of the pages first, then those of crowdd.conf."""

    def __init__(self, db: Database, state: SiteState, settings: Settings, prose: Prose) -> None:
        self._db, self._settings, self._prose = db, settings, prose
        self.state = state

    async def load(self) -> None:
        """Reads the settings from the database."""
        row = await site_statements.find(self._db)
        written = row.texts.get("intro")
        introductions = [str(text) for text in written.values()] if isinstance(written, dict) else []
        self.state.keep(row, await self._prose.of(introductions, HEADING))

    def follow(self, clock: IReactorTime, change_notifier: ChangeNotifier) -> Throttled:
        """Reads them again whenever they may have changed, in this process or in another."""
        loading = Throttled(clock, self.load, PAUSE)
        change_notifier.listen(lambda _topic: loading.ask(), topics=frozenset({SITE}))
        return loading

    @property
    def row(self) -> SiteRow:
        """The settings that administrators made."""
        return self.state.row

    def name(self) -> str:
        """The name of the site."""
        return self.row.name or self._settings.site.name

    def appearance(self) -> Appearance:
        """What every page shows of the site."""
        row = self.row
        coloured = row.accent_light or row.accent_dark
        return Appearance(
            self.name(),
            f"/uploads/{row.logo}" if row.logo else "",
            f"/site.css?v={row.version}" if coloured else "",
            self._settings.maps.file,
            self._settings.maps.tiles,
            self._settings.maps.attribution,
        )

    @property
    def default_redundancy(self) -> int:
        """Answers per task that the pages propose for a project without tasks."""
        return self.row.default_redundancy or self.usual.default_redundancy

    @property
    def signups_per_hour(self) -> int:
        """New accounts per network and hour; 0: no limit."""
        chosen = self.row.signups_per_hour
        return self.usual.signups_per_hour if chosen is None else chosen

    @property
    def max_projects(self) -> int:
        """Projects that an account may own; 0: no limit."""
        chosen = self.row.max_projects
        return self.usual.max_projects if chosen is None else chosen

    @property
    def usual(self) -> Usual:
        """What counts where administrators set nothing."""
        settings = self._settings
        return Usual(
            settings.site.name,
            USUAL_REDUNDANCY,
            settings.accounts.signups_per_hour,
            settings.quota.max_projects,
        )

    def text(self, name: str, locale: str) -> WrittenText | None:
        """A text of TEXTS for a reader: in their language, else in English, else in one that it is written in."""
        written = self.row.texts.get(name)
        if not isinstance(written, dict):
            return None
        for language in (locale, SOURCE, *NAMES):
            if text := written.get(language):
                return WrittenText(str(text), language)
        return None

    async def first_steps(self, who: Requester) -> FirstSteps | None:
        """Which first steps of an administrator are done; None for others, and when the steps are hidden."""
        return await site_statements.first_steps(self._db) if who.acting_admin and not self.row.steps_hidden else None


@attrs.frozen
class Viewpoint:
    """The requester for whom rows are read: ``who``, or one who stands for all that see the same.

    ``moment``: the moment (``Exposure.moment``) at which that was looked up; None if it was not.
    """

    who: Requester
    moment: str | None = None


class Exposure:
    """Tells the number as it is now. Requests that come together share a statement."""

    def __init__(self, db: Database, new_batcher: BatcherFactory) -> None:
        self._db = db
        self._asked: Batcher[None, int] = new_batcher(partial(_for_all, partial(site_statements.exposure, db)))
        self._moments: Batcher[None, str] = new_batcher(partial(_for_all, partial(site_statements.moment, db)))
        self._volunteers: Batcher[str, HasAnswered] = new_batcher(partial(site_statements.have_answered, db))

    async def version(self) -> int:
        """The number that is committed; it was read after this was called."""
        return await self._asked.add(None)

    async def moment(self) -> str:
        """A text that changes with every commit (``core.site_statements``); it was read after this was called."""
        return await self._moments.add(None)

    async def alike(self, who: Requester) -> Viewpoint:
        """One requester for all without an account who have given no answer: rows made for them are good for ``who``.

        Somebody else is returned as they are.
        """
        if who.signed_in or who.external_uid is not None:
            return Viewpoint(who)
        volunteer_record = await self._volunteers.add(who.actor)
        return Viewpoint(
            who if volunteer_record.answered else attrs.evolve(who, volunteer="", network=""), volunteer_record.moment
        )


async def _for_all(read: Callable[[], Awaitable[T]], members: list[None]) -> list[T]:
    return [await read()] * len(members)
