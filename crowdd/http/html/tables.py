"""Tables of rows for people: columns, sorting, pages and selection by the address, and the same rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict
from urllib.parse import urlencode

import attrs

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.text.words import csv_cell
from crowdd.http import queries
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.kinds.types import clean_text

Filters = Mapping[str, str | Sequence[str]]


class Sort(TypedDict):
    """The link that sorts by a column, and how it is sorted now: ascending, descending or ""."""

    query: str
    now: str


class Table(TypedDict):
    """What templates/table.html draws around rows.

    ``columns`` are all that may be chosen and ``shown`` those that are. ``query`` is the whole address without a place,
    ``chosen`` and ``resized`` what forms for columns and rows keep of it: pairs of name and value.
    """

    columns: list[str]
    shown: list[str]
    per_page: int
    sizes: list[int]
    query: str
    sorts: dict[str, Sort]
    kept_by_columns: list[tuple[str, str]]
    kept_by_size: list[tuple[str, str]]


def build_table(
    filters: Filters,
    *,
    columns: Sequence[str],
    shown: Sequence[str],
    per_page: int,
    sizes: Sequence[int],
    orders: Iterable[str],
) -> Table:
    """What is drawn around rows. ``filters`` is what the address says, without its place.

    ``orders`` are the columns that sort the table. A second click sorts the other way.
    """
    return Table(
        columns=list(columns),
        shown=list(shown),
        per_page=per_page,
        sizes=list(sizes),
        query=build_query(filters),
        sorts={name: _sort(filters, name) for name in orders},
        kept_by_columns=_pairs(filters, "columns"),
        kept_by_size=_pairs(filters, "per_page"),
    )


def build_query(filters: Filters, **changes: str) -> str:
    """The filters as a query string, with changes; "" takes a name out."""
    return urlencode(_pairs({**filters, **changes}))


def as_csv(name: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> BytesResponse:
    """Rows as a CSV file that spreadsheets open: UTF-8 with a mark, no formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([csv_cell(heading) for heading in headings])
    writer.writerows([[csv_cell(value) for value in row] for row in rows])
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return BytesResponse(text.getvalue().encode("utf-8-sig"), "text/csv; charset=utf-8", headers=headers)


def _sort(filters: Filters, name: str) -> Sort:
    sorted_ = filters.get("orderby") == name
    now = ("descending" if filters.get("desc") else "ascending") if sorted_ else ""
    return Sort(query=build_query(filters, orderby=name, desc="1" if now == "ascending" else ""), now=now)


def _pairs(filters: Filters, without: str = "") -> list[tuple[str, str]]:
    pairs = []
    for name, value in filters.items():
        values = [value] if isinstance(value, str) else value
        pairs += [(name, one) for one in values if name != without and (one or name == "columns")]
    return pairs


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
        size = queries.parse_number(query.get("per_page", ""), "per_page", self.per_page)
        if size not in (self.per_page, *PAGE_SIZES):
            choices = ", ".join(map(str, PAGE_SIZES))
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="per_page", choices=choices))
        down = queries.parse_flag(query.get("desc", ""), "desc") if query.get("orderby") else self.descending
        beside = {name: self._row(query[name], name) for name in ("before", "after") if query.get(name)}
        return Keyset(size, order, down, **beside)

    def _row(self, text: str, name: str) -> int | str:
        return clean_text(text)[:_MAX_CODE] if self.coded else queries.parse_number(text, name, 0)

    def drawn(self, place: Keyset, filters: Filters, part: KeysetPage[Any], row_id: RowId) -> WithTable:
        """The table around a page. ``filters`` are those of the address, ``row_id`` says the id or code of a row."""
        parameters = {
            **filters,
            "orderby": place.order,
            "desc": "1" if place.descending else "",
            "per_page": "" if place.size == self.per_page else str(place.size),
        }
        drawn = build_table(parameters, columns=(), shown=(), per_page=place.size, sizes=PAGE_SIZES, orders=self.orders)
        beside = {"before": str(place.before or ""), "after": str(place.after or "")}
        drawn["query"] = build_query({**parameters, **beside})
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
    return [queries.parse_number(text, name, 0) for text in selected_words(incoming, name)]


def page_csv(name: str, columns: Sequence[str], rows: Sequence[Values]) -> BytesResponse:
    """Some columns of the rows of a page as CSV."""
    return as_csv(name, columns, [[row.get(column) for column in columns] for row in rows])


def _page_links(place: Keyset, parameters: Filters, part: KeysetPage[object], row_id: RowId) -> PageLinks:
    forward, back = ("before", "after") if place.descending else ("after", "before")
    first = build_query(parameters) if place.row is not None else None
    if not part.rows:
        return PageLinks(first=first, previous=None, next=None)
    return PageLinks(
        first=first,
        previous=build_query(parameters, **{back: str(row_id(part.rows[0]))}) if part.previous else None,
        next=build_query(parameters, **{forward: str(row_id(part.rows[-1]))}) if part.next else None,
    )
