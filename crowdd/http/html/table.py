"""Tables of rows for people: columns, sorting and places, all of it in the address, and the same as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict
from urllib.parse import urlencode

from crowdd.domain.core.csv_escape import cell
from crowdd.http.responses import BytesResponse

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


def table(
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
        query=query(filters),
        sorts={name: _sort(filters, name) for name in orders},
        kept_by_columns=_pairs(filters, "columns"),
        kept_by_size=_pairs(filters, "per_page"),
    )


def query(filters: Filters, **changes: str) -> str:
    """The filters as a query string, with changes; "" takes a name out."""
    return urlencode(_pairs({**filters, **changes}))


def as_csv(name: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> BytesResponse:
    """Rows as a CSV file that spreadsheets open: UTF-8 with a mark, no formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([cell(heading) for heading in headings])
    writer.writerows([[cell(value) for value in row] for row in rows])
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return BytesResponse(text.getvalue().encode("utf-8-sig"), "text/csv; charset=utf-8", headers=headers)


def _sort(filters: Filters, name: str) -> Sort:
    sorted_ = filters.get("orderby") == name
    now = ("descending" if filters.get("desc") else "ascending") if sorted_ else ""
    return Sort(query=query(filters, orderby=name, desc="1" if now == "ascending" else ""), now=now)


def _pairs(filters: Filters, without: str = "") -> list[tuple[str, str]]:
    pairs = []
    for name, value in filters.items():
        values = [value] if isinstance(value, str) else value
        pairs += [(name, one) for one in values if name != without and (one or name == "columns")]
    return pairs
