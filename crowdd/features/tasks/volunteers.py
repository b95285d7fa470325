"""Volunteers of a project for those who run it, with figures: gold tasks, agreement, accuracy, and time per answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database
from crowdd.features.results.consensus import share_interval
from crowdd.features.tasks import volunteer_statements
from crowdd.features.tasks.change_bodies import VolunteerBody
from crowdd.features.tasks.changes import Changes, Effect
from crowdd.features.tasks.rows import KnownVolunteer, VolunteerRow
from crowdd.kernel.errors import NOT_FOUND, NotFoundError
from crowdd.kernel.requester import Requester


@attrs.frozen
class KnownFigures:
    """Gold tasks that were right, of how many, and the 95 % interval of the share; agreement with results; accuracy.

    Each is None while there is nothing to tell it by. ``seconds`` is the median of the newest answers.
    """

    gold_right: float | None
    gold_seen: float | None
    gold_low: float | None
    gold_high: float | None
    agreement: float | None
    agreement_seen: float | None
    accuracy: float | None
    counts: bool
    lifted: bool
    seconds: float | None
    last_active: datetime | None

    @classmethod
    def of(cls, row: KnownVolunteer) -> KnownFigures:
        """The figures of a row."""
        seen = row["gold_seen"] or None
        low, high = share_interval(row["gold_right"] or 0, seen) if seen else (None, None)
        peers = row["peer_seen"] or None
        return cls(
            gold_right=row["gold_right"] if seen else None,
            gold_seen=seen,
            gold_low=low,
            gold_high=high,
            agreement=(row["peer_right"] or 0) / peers if peers else None,
            agreement_seen=peers,
            accuracy=row["accuracy"],
            counts=row["counts"],
            lifted=row["lifted"],
            seconds=row["seconds"],
            last_active=row["last_active"],
        )


PER_PAGE = 50
MAX_PASSED = 10_000  # volunteers that a page by its number may pass over


@attrs.frozen
class Volunteer:
    """Who has answered: ``sort`` is account, external or anonymous; ``volunteer`` the code of their answers."""

    volunteer: str
    sort: str
    user_id: int | None
    user_name: str | None
    external_uid: str | None
    answers: int
    barred: bool

    @classmethod
    def of(cls, row: VolunteerRow) -> Volunteer:
        """The volunteer of a row."""
        sort, _colon, name = row["actor"].partition(":")
        words = {"u": "account", "x": "external"}.get(sort, "anonymous")
        return cls(
            volunteer=row["volunteer"],
            sort=words,
            user_id=row["user_id"],
            user_name=row["user_name"],
            external_uid=name if sort == "x" else None,
            answers=row["answers"],
            barred=row["barred"],
        )


class Volunteers:
    """Lists them, and finds one by the word of their answers."""

    def __init__(self, db: Database, changes: Changes) -> None:
        self._db, self._changes = db, changes

    async def listed(
        self,
        who: Requester,
        project_id: int,
        place: Keyset,
        known: bool | None = None,
        offset: int = 0,
    ) -> KeysetPage[Volunteer]:
        """A page by their answers. ``known``: only those with an account, or only those without.

        ``offset``: so many more are passed over.

        Raises NotFoundError, AnonymousError or ForbiddenError.
        """
        await self._changes.require(self._db, who, project_id)
        page = await volunteer_statements.listed(self._db, project_id, place, known, offset)
        return KeysetPage([Volunteer.of(row) for row in page.rows], page.previous, page.next)

    async def doubted(self, who: Requester, project_id: int, place: Keyset) -> KeysetPage[Volunteer]:
        """A page of those of whom something is known, the most doubtful first. Raises as ``listed``."""
        await self._changes.require(self._db, who, project_id)
        page = await volunteer_statements.doubted(self._db, project_id, place)
        return KeysetPage([Volunteer.of(row) for row in page.rows], page.previous, page.next)

    async def figures(self, project_id: int, shown_volunteers: Sequence[Volunteer]) -> list[KnownFigures]:
        """What is known of each of these, which the requester was shown."""
        rows = await volunteer_statements.known(self._db, project_id, [each.volunteer for each in shown_volunteers])
        return [KnownFigures.of(row) for row in rows]

    async def lift(self, who: Requester, project_id: int, word: str) -> Effect:
        """Has the answers of a volunteer count who seemed no better than chance. Raises as ``find``."""
        await self.find(who, project_id, word)
        return await self._changes.lift(who, project_id, VolunteerBody(volunteer=word))

    async def numbered(self, project_id: int, place: Keyset, number: int, known: bool | None = None) -> Keyset:
        """The place of a page by its number, 1 or more, in the same order. Beyond the last page it is an empty one."""
        passed = (number - 1) * place.size
        if passed <= 0:
            return place
        before = await volunteer_statements.listed(self._db, project_id, attrs.evolve(place, size=1), known, passed - 1)
        last = before.rows[0]["volunteer"] if before.rows else ""
        return attrs.evolve(place, before=last) if place.descending else attrs.evolve(place, after=last)

    async def count(self, project_id: int, known: bool | None = None) -> int:
        """How many there are."""
        with_account, without = await volunteer_statements.count(self._db, project_id)
        return {None: with_account + without, True: with_account, False: without}[known]

    async def find(self, who: Requester, project_id: int, word: str) -> Volunteer:
        """The one whom a word names. Raises NotFoundError, AnonymousError or ForbiddenError."""
        await self._changes.require(self._db, who, project_id)
        row = await volunteer_statements.find(self._db, project_id, word)
        if row is None:
            raise NotFoundError(NOT_FOUND)
        return Volunteer.of(row)
