"""A copy of the rows of a project, kept current by what ``since`` gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
import orjson

NOT_FOLLOWED = "fav_user_ids"


@attrs.define
class Copy:
    """The rows of a kind by their ids, as of ``cursor``. Lines count once the cursor behind them has come."""

    kind: str
    cursor: str = ""
    rows: dict[int, Any] = attrs.field(factory=dict)
    taken: int = 0  # rows and deletions
    twice: int = 0  # rows that came though the copy had them as they are
    _waiting: list[Any] = attrs.field(factory=list)

    def take(self, lines: Iterable[str | bytes]) -> None:
        """Takes what a file or a stream has; empty lines are heartbeats."""
        for line in lines:
            if line.strip():
                self._line(orjson.loads(line))

    def interrupted(self) -> None:
        """The file or stream has ended: what has no cursor behind it will come again."""
        self._waiting.clear()

    def _line(self, value: Any) -> None:
        if "cursor" in value:
            self._apply(value["cursor"])
        else:
            self._waiting.append(value)

    def _apply(self, cursor: str) -> None:
        come = [row["id"] for row in self._waiting if row.get("deleted") is not True]
        assert len(come) == len(set(come)), "a batch has a row twice"
        for value in self._waiting:
            if value.get("deleted") is True:
                self.rows.pop(value["id"], None)
            else:
                self.twice += self.rows.get(value["id"]) == value
                self.rows[value["id"]] = value
        self.taken += len(self._waiting)
        self._waiting, self.cursor = [], cursor


def source(lines: Iterable[str | bytes]) -> dict[int, Any]:
    """What a copy of the rows of a whole export has to be."""
    rows = [orjson.loads(line) for line in lines if line.strip()]
    return {row["id"]: {name: value for name, value in row.items() if name != NOT_FOLLOWED} for row in rows}
