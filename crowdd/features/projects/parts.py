"""What later features do when a project is made or changed."""

from __future__ import annotations

from crowdd.database.access import Database, Row
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values


class ProjectPart:
    """A feature's part of each project; every method does nothing unless a feature says otherwise.

    All are called within the transaction that makes or changes the project, in the order of the features.
    """

    async def complete(self, tx: Database, row: Row | None, info: Values) -> Values:
        """``info`` with what follows from it. ``row``: the project as it is stored and held, None for a new one.

        Raises InvalidValueError.
        """
        return info

    async def complete_keys(self, tx: Database, project_id: int, stored: Values, keys: Values) -> Values:
        """The same for some keys of ``info``. ``stored`` is ``info`` as it was read before the transaction."""
        return keys

    async def made(self, tx: Database, who: Requester, project_id: int, values: Values) -> None:
        """The project was made of these values."""

    async def changing(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        """The project is about to be changed. Raises to refuse that."""

    async def changed(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        """The project was changed; ``row`` is what it was before."""
