"""Objects of the API, page by page, and short lists of a project."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd_client.table import Record, Table
from crowdd_client.transport import Transport

PAGE = 100  # rows of a page: more are not returned
_OURS = frozenset({"limit", "offset", "last_id"})


class Rows(Table):
    """The objects of one kind that match filters, read a page at a time.

    A server allows 300 requests in 15 minutes to each kind, unless its operator sets another limit. So 30,000 rows come
    at once, and iterating over more waits (``Retries.patience``). ``Project.export`` has no such limit.
    """

    def __init__(self, transport: Transport, kind: str, filters: dict[str, object], name: str = "") -> None:
        if reserved := _OURS & filters.keys():
            raise ValueError(f"{', '.join(sorted(reserved))} cannot be a filter: all rows are read, page by page.")
        self._transport, self._kind, self._filters = transport, kind, filters
        self.name = name or kind

    def _read(self) -> Iterator[Record]:
        place: dict[str, object] = {}
        # A page may be short and not the last: one has at most 5 MB.
        while page := self._page(place):
            yield from page
            place = {"last_id": page[-1]["id"]}

    def _page(self, place: dict[str, object]) -> list[Record]:
        query = {**self._filters, "limit": PAGE, **place}
        page: list[Record] = self._transport.json("GET", f"/api/{self._kind}", query)
        return page


class Listing(Table):
    """The rows at an address. ``after``: the parameter of the next page, and the attribute that it takes."""

    def __init__(self, transport: Transport, path: str, name: str, after: tuple[str, str] | None = None) -> None:
        self._transport, self._path, self.name, self._after = transport, path, name, after

    def _read(self) -> Iterator[Record]:
        query: dict[str, object] = {}
        while page := self._transport.json("GET", self._path, query):
            yield from page
            if self._after is None:
                break
            parameter, attribute = self._after
            query = {parameter: page[-1][attribute]}
