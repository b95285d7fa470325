"""Tells home what lists, search and leaderboard show of the projects of a shard (record 236)."""

from __future__ import annotations

from functools import partial
from typing import Final

import attrs
from twisted.internet.defer import TimeoutError
from twisted.logger import Logger

from crowdd.concurrency.fresh_flight import FreshFlight
from crowdd.domain.core.exposure import Exposure
from crowdd.errors import CrowddError, UnavailableError
from crowdd.reactor import IReactor
from crowdd.storage.database import Database, Transactions
from crowdd.storage.server.shards import figures
from crowdd.storage.server.shards.rows import Card

PERIOD: Final = 10.0
"""Seconds between two tellings."""

RIGHTS_SECONDS: Final = 2.0
"""How long a page of home waits for a shard that does not answer."""

SILENT_SECONDS: Final = 5.0
"""How long no page waits for it afterwards."""

_CARDS, _SCORES, _PLACES = 50, 2000, 1000
log = Logger()


@attrs.frozen
class FiguresHome:
    """Tells ``home`` about the shard with this number."""

    home: Transactions
    shard: Transactions
    number: int

    async def tell(self) -> str:
        """Everything that has changed since the last time; what breaks off in between is told again."""
        cards = await self._tell_cards()
        scores = await self._scores()
        dropped = await self._drop()
        return f"{cards} projects, {scores} people, {dropped} deleted"

    async def tell_rights(self) -> None:
        """What decides who may see a project, and which projects there are."""
        await self._tell_cards()
        await self._drop()

    async def _tell_cards(self) -> int:
        card_count, refused = 0, set[int]()
        while batch := await self.shard.transaction(partial(self._tell_some, refused)):
            card_count += batch
        return card_count

    async def _tell_some(self, refused: set[int], tx: Database) -> int:
        """The next cards; nobody else tells others meanwhile, or an older card could come after a newer one."""
        await figures.be_the_only_one(tx)
        changed_cards = await figures.changed(tx, _CARDS + len(refused))
        cards = [card for card in changed_cards if card.project_id not in refused]
        taken = [card for card in cards if await self._take(card)]
        refused |= {card.project_id for card in cards} - {card.project_id for card in taken}
        await figures.was_told(tx, taken)
        return len(cards)

    async def _take(self, card: Card) -> bool:
        """False where home cannot take it, or where the project lives elsewhere by now."""
        try:
            return await self.home.transaction(partial(figures.take, number=self.number, card=card))
        except UnavailableError:
            raise
        except CrowddError as error:
            log.error("home refuses figures: project={project} error={error}", project=card.project_id, error=error)
            return False

    async def _scores(self) -> int:
        score_count = 0
        while scores := await figures.changed_scores(self.shard, _SCORES):
            await figures.take_scores(self.home, self.number, scores)
            await figures.scores_were_told(self.shard, scores)
            score_count += len(scores)
        return score_count

    async def _drop(self) -> int:
        """Removes cards of projects that were deleted on the shard."""
        after, dropped = 0, 0
        while places := await figures.placed(self.home, self.number, after, _PLACES):
            for project_id in await figures.gone(self.shard, [place.project_id for place in places]):
                await self.home.transaction(partial(figures.drop_card, number=self.number, project_id=project_id))
                dropped += 1
            after = places[-1].project_id
        return dropped


class RightsHome:
    """Sees to it that home knows who may see the projects of a shard, before it shows any of them.

    ``exposure`` is that of the shard. While the shard does not answer, home shows what it was told last.
    """

    def __init__(self, reactor: IReactor, exposure: Exposure, figures_home: FiguresHome) -> None:
        self._reactor, self._exposure, self._figures_home = reactor, exposure, figures_home
        self._told: int | None = None
        self._silent_until = 0.0
        self._flights = FreshFlight[None](reactor)

    async def require(self) -> None:
        """Returns when home knows what was committed on the shard by now, or the shard does not answer."""
        if self._reactor.seconds() < self._silent_until:
            return
        try:
            await self._flights.run(None, self._look).addTimeout(RIGHTS_SECONDS, self._reactor)
        except (TimeoutError, CrowddError) as error:
            self._silent_until = self._reactor.seconds() + SILENT_SECONDS
            log.error(
                "shard does not tell rights: shard={shard} error={error}", shard=self._figures_home.number, error=error
            )

    async def _look(self) -> None:
        version = await self._exposure.version()
        if version != self._told:
            await self._figures_home.tell_rights()
            self._told = version
