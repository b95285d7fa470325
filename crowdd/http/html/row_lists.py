"""Long lists as tables: what the address says of the page and the order, and the addresses of the pages beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import attrs

from crowdd.errors import InvalidValueError
from crowdd.http import queries
from crowdd.http.html import table
from crowdd.http.html.table import Filters, Table
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse
from crowdd.kinds.kind import outward
from crowdd.kinds.types import clean_text
from crowdd.languages import _
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.values import Values

PAGE_SIZES = (25, 50, 100)
PER_PAGE = 50
_MAX_CODE = 100  # characters
RowId = Callable[[Any], int | str]


class PageLinks(TypedDict):
    """The pages beside this one as query strings, None where there is none; ``first`` is None on the first page."""

    first: str | None
    previous: str | None
    next: str | None


class WithTable(TypedDict):
    """What table.html draws around the rows of a page."""

    table: Table
    page_links: PageLinks


@attrs.frozen
class RowList:
    """How a list may be sorted. The first order is the one it has by itself; ``descending`` says in which direction.

    ``coded``: pages begin at rows that have a code instead of a number.
    """

    orders: Sequence[str] = ("id",)
    descending: bool = True
    per_page: int = PER_PAGE
    coded: bool = False

    def place(self, incoming: Incoming) -> Keyset:
        """The page that the address asks for. Raises InvalidValueError."""
        query = incoming.query
        order = query.get("orderby") or self.orders[0]
        if order not in self.orders:
            choices = ", ".join(self.orders)
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="orderby", choices=choices))
        size = queries.number(query.get("per_page", ""), "per_page", self.per_page)
        if size not in (self.per_page, *PAGE_SIZES):
            choices = ", ".join(map(str, PAGE_SIZES))
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="per_page", choices=choices))
        down = queries.flag(query.get("desc", ""), "desc") if query.get("orderby") else self.descending
        beside = {name: self._row(query[name], name) for name in ("before", "after") if query.get(name)}
        return Keyset(size, order, down, **beside)

    def _row(self, text: str, name: str) -> int | str:
        return clean_text(text)[:_MAX_CODE] if self.coded else queries.number(text, name, 0)

    def drawn(self, place: Keyset, filters: Filters, part: KeysetPage[Any], row_id: RowId) -> WithTable:
        """The table around a page. ``filters`` are those of the address, ``row_id`` says the id or code of a row."""
        parameters = {
            **filters,
            "orderby": place.order,
            "desc": "1" if place.descending else "",
            "per_page": "" if place.size == self.per_page else str(place.size),
        }
        drawn = table.table(parameters, columns=(), shown=(), per_page=place.size, sizes=PAGE_SIZES, orders=self.orders)
        beside = {"before": str(place.before or ""), "after": str(place.after or "")}
        drawn["query"] = table.query({**parameters, **beside})
        return WithTable(table=drawn, page_links=_page_links(place, parameters, part, row_id))


def outward_rows(rows: Sequence[Mapping[str, object]]) -> list[Values]:
    """Rows as programs and templates get them."""
    return [{name: outward(value) for name, value in row.items()} for row in rows]


def selected_words(incoming: Incoming, name: str) -> list[str]:
    """What the boxes of that name in a form stand for; with ``scope=page`` all of the page."""
    page = incoming.field("page_ids").split(",") if incoming.field("scope") == "page" else incoming.all_sent(name)
    return [text.strip() for text in page if text.strip()]


def selected(incoming: Incoming, name: str) -> list[int]:
    """The rows of a form with boxes of that name, by their numbers. Raises InvalidValueError."""
    return [queries.number(text, name, 0) for text in selected_words(incoming, name)]


def page_csv(name: str, columns: Sequence[str], rows: Sequence[Values]) -> BytesResponse:
    """Some columns of the rows of a page as CSV."""
    return table.as_csv(name, columns, [[row.get(column) for column in columns] for row in rows])


def _page_links(place: Keyset, parameters: Filters, part: KeysetPage[object], row_id: RowId) -> PageLinks:
    forward, back = ("before", "after") if place.descending else ("after", "before")
    first = table.query(parameters) if place.row is not None else None
    if not part.rows:
        return PageLinks(first=first, previous=None, next=None)
    return PageLinks(
        first=first,
        previous=table.query(parameters, **{back: str(row_id(part.rows[0]))}) if part.previous else None,
        next=table.query(parameters, **{forward: str(row_id(part.rows[-1]))}) if part.next else None,
    )
