"""Rows that can be read one by one, shown with a progress bar, or become a DataFrame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from crowdd_client import frames
from crowdd_client.progress import with_bar

if TYPE_CHECKING:
    import pandas
    import polars

Record = dict[str, Any]
"""An object of the API, as in https://…/api/docs."""


class Table(Iterable[Record]):
    """Rows of one kind. Each iteration reads them again, and keeps only a page of them in memory."""

    name = "rows"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name}>"

    @abstractmethod
    def __iter__(self) -> Iterator[Record]:
        """The rows by id."""

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
