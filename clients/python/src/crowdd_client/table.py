"""Rows that can be read one by one, counted, shown with a progress bar or in a notebook, or become a DataFrame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from crowdd_client import frames
from crowdd_client.progress import with_bar

if TYPE_CHECKING:
    import pandas
    import polars

Record = dict[str, Any]
"""An object of the API, as in https://…/api/docs."""


_SHOWN, _CELL = 10, 100  # rows in a notebook, and characters of a value


class Table(Iterable[Record]):
    """Rows of one kind. Each iteration reads them again, and keeps only a page of them in memory."""

    name = "rows"
    _count: int | None = None
    _asked = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name}>"

    def __iter__(self) -> Iterator[Record]:
        """The rows, by id where they have one."""
        self._asked = True
        return self._counted()

    def __len__(self) -> int:
        """How many rows there are: as many as the last reading of all found. Without one they are read."""
        if self._asked:
            # list() asks for a length before it reads. TypeError says that there is none: nothing is read twice.
            raise TypeError("The rows are about to be read. Count them before or after.")
        if self._count is None:
            self._count = sum(1 for _ in self)
        return self._count

    def __bool__(self) -> bool:
        return True

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        return _html(self.name, list(islice(self, _SHOWN + 1)))

    @abstractmethod
    def _read(self) -> Iterator[Record]:
        """The rows, read from the server."""

    def _counted(self) -> Iterator[Record]:
        self._asked, count = False, 0
        for row in self._read():
            count += 1
            yield row
        self._count = count

    def with_progress(self, total: int | None = None) -> Iterator[Record]:
        """The rows, with a progress bar. Needs ``crowdd-client[progress]``."""
        return with_bar(self, self.name, total)

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a DataFrame of pandas. Needs ``crowdd-client[pandas]``.

        If ``info`` is an object, each of its keys is a column ``info_<key>``; anything else is in the column ``info``.
        A column has one type. Values of several types, objects and arrays become JSON texts.
        """
        frame: pandas.DataFrame = frames.to_pandas(self)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The same as a DataFrame of polars. Needs ``crowdd-client[polars]``."""
        frame: polars.DataFrame = frames.to_polars(self)
        return frame


def _html(name: str, rows: list[Record]) -> str:
    """A table of a few rows; the last one only says that there are more."""
    names = list(dict.fromkeys(key for row in rows[:_SHOWN] for key in row))
    head = "".join(f"<th>{escape(key)}</th>" for key in names)
    lines = ["".join(f"<td>{escape(_cell(row.get(key)))}</td>" for key in names) for row in rows[:_SHOWN]]
    more = "<p>… and more</p>" if len(rows) > _SHOWN else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<p>{escape(name)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _CELL else f"{text[:_CELL]}…"
