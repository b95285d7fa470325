"""Objects of the API, page by page."""

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

    def __iter__(self) -> Iterator[Record]:
        place: dict[str, object] = {}
        # A page may be short and not the last: one has at most 5 MB.
        while page := self._page(place):
            yield from page
            place = {"last_id": page[-1]["id"]}

    def _page(self, place: dict[str, object]) -> list[Record]:
        query = {**self._filters, "limit": PAGE, **place}
        page: list[Record] = self._transport.json("GET", f"/api/{self._kind}", query)
        return page
