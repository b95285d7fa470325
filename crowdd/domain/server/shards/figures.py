"""Tells home what lists, search and leaderboard show of the projects of a shard (record 236)."""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import Final

import attrs
from twisted.logger import Logger

from crowdd.errors import CrowddError, UnavailableError
from crowdd.storage.database import Transactions
from crowdd.storage.server.shards import figures
from crowdd.storage.server.shards.rows import Card

PERIOD: Final = 10.0
"""Seconds between two tellings."""

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
        cards = await self._cards()
        scores = await self._scores()
        dropped = await self._drop()
        return f"{cards} projects, {scores} people, {dropped} deleted"

    async def _cards(self) -> int:
        told, refused = 0, set[int]()
        while cards := await self._changed(refused):
            taken = [card for card in cards if await self._take(card)]
            refused |= {card.project_id for card in cards} - {card.project_id for card in taken}
            await figures.was_told(self.shard, taken)
            told += len(taken)
        return told

    async def _changed(self, refused: Set[int]) -> list[Card]:
        found = await figures.changed(self.shard, _CARDS + len(refused))
        return [card for card in found if card.project_id not in refused]

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
        told = 0
        while scores := await figures.changed_scores(self.shard, _SCORES):
            await figures.take_scores(self.home, self.number, scores)
            await figures.scores_were_told(self.shard, scores)
            told += len(scores)
        return told

    async def _drop(self) -> int:
        """Removes cards of projects that were deleted on the shard."""
        after, dropped = 0, 0
        while places := await figures.placed(self.home, self.number, after, _PLACES):
            for project_id in await figures.gone(self.shard, [place.project_id for place in places]):
                await self.home.transaction(partial(figures.drop_card, number=self.number, project_id=project_id))
                dropped += 1
            after = places[-1].project_id
        return dropped
