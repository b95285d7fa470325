"""Pages of long lists in the order of an index: a page begins at a row that the address names, so that every page costs the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import attrs

R = TypeVar("R")


@attrs.frozen
class Keyset:
    """Which page of a list: its first one, or the one beside a row.

    ``before`` and ``after`` are ids, or codes where rows have no number. They mean the order of the index, whichever way
    the list is sorted: rows ``before`` another one have a smaller key. ``size`` is the number of rows on a page.
    """

    size: int = 50
    order: str = "id"
    descending: bool = True
    before: int | str | None = None
    after: int | str | None = None

    @property
    def row(self) -> int | str | None:
        """The row beside which the page lies; None for the first page."""
        return self.after if self.before is None else self.before

    @property
    def reads_down(self) -> bool:
        """Whether the rows are read in descending order, so that those next to the row that is named come first."""
        return self.before is not None or (self.after is None and self.descending)

    def values(self) -> dict[str, object]:
        """What the SQL of ``beside`` and ``limited`` stands for."""
        return {"place": self.row, "place_limit": self.size + 1}

    def beside(self, table: str, id_: str, keys: Sequence[str]) -> str:
        """The condition on rows beside the one that is named. ``keys`` are the columns of the index; the id is one of them, or the last one."""
        if self.row is None:
            return "true"
        sign = "<" if self.reads_down else ">"
        if list(keys) == [id_]:
            return f"{id_} {sign} %(place)s"
        columns = ", ".join(keys)
        return f"({columns}) {sign} (SELECT {columns} FROM {table} WHERE {id_} = %(place)s)"

    def limited(self, keys: Sequence[str]) -> str:
        """The order in which rows are read, and how many: one more than are shown."""
        way = "DESC" if self.reads_down else "ASC"
        return f"ORDER BY {', '.join(f'{key} {way}' for key in keys)} LIMIT %(place_limit)s"

    def part(self, rows: Sequence[R]) -> KeysetPage[R]:
        """The page that these rows are, which were read in the order of ``limited``."""
        more, shown = len(rows) > self.size, list(rows[: self.size])
        if self.reads_down == self.descending:
            return KeysetPage(shown, previous=self.row is not None, next=more)
        return KeysetPage(shown[::-1], previous=more, next=self.row is not None)


@attrs.frozen
class KeysetPage(Generic[R]):
    """The rows of a page in the order of the list, and whether there are others before and after them."""

    rows: list[R]
    previous: bool
    next: bool
