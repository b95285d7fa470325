"""The filters of the list of tasks: in an address, and as one text in forms that change all tasks that match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict
from urllib.parse import parse_qsl

from crowdd.features.tasks.list_statements import TaskFilter
from crowdd.features.tasks.task_list import AGREEMENT, PER_PAGE, Asked
from crowdd.http import queries
from crowdd.http.html import tables
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kinds.types import clean_text

_NAMES = ("state", "words", "min_agreement", "max_agreement", "orderby")
_MAX_TEXT = 2000  # characters


class Chosen(TypedDict):
    """The filters and the order of the list."""

    words: str
    state: str | None
    orderby: str
    desc: bool


class Matching(TypedDict):
    """What chooses the tasks of a change: as text for its form, and what people read of it."""

    text: str
    words: str
    state: str | None
    agreements: tuple[str, str] | None


def parse_asked(query: Mapping[str, str], page: int = 1, per_page: int = PER_PAGE) -> Asked:
    """What an address asks for. ``per_page`` holds where it does not say. Raises InvalidValueError."""
    now = parse_chosen(query)
    around = {name: queries.parse_number(query[name], name, 0) for name in ("after", "before") if query.get(name)}
    if page < 1:
        raise InvalidValueError(_("The page number must be 1 or more."))
    return Asked(
        page=page,
        state=now["state"],
        order=now["orderby"],
        descending=now["desc"],
        words=now["words"],
        per_page=queries.parse_number(query.get("per_page", ""), "per_page", per_page),
        min_agreement=_percent(query, "min_agreement"),
        max_agreement=_percent(query, "max_agreement"),
        **around,
    )


def parse_chosen(query: Mapping[str, str]) -> Chosen:
    """Filters and order of an address. A filter by agreement is one of this order."""
    words = clean_text(query.get("words", "")).strip()
    agreed = not words and (query.get("min_agreement") or query.get("max_agreement"))
    return Chosen(
        words=words,
        state=query.get("state") or None,
        orderby=AGREEMENT if agreed else query.get("orderby") or "id",
        desc=queries.parse_flag(query.get("desc", ""), "desc"),
    )


def parse_agreements(query: Mapping[str, str]) -> tuple[str, str]:
    """The least and the most agreement of an address, as it has them."""
    return query.get("min_agreement", ""), query.get("max_agreement", "")


def format_filters(query: Mapping[str, str]) -> str:
    """The filters of an address as one text, which is never empty."""
    now, (minimum, maximum) = parse_chosen(query), parse_agreements(query)
    parameters = {
        "state": now["state"] or "",
        "words": now["words"],
        "min_agreement": minimum,
        "max_agreement": maximum,
    }
    return tables.build_query(parameters | {"orderby": AGREEMENT if now["orderby"] == AGREEMENT else "id"})


def parse_matching(text: str) -> Matching:
    """What a text of ``format_filters`` says. Raises InvalidValueError."""
    query = _query(text)
    parse_asked(query)
    now = parse_chosen(query)
    agreed = parse_agreements(query) if now["orderby"] == AGREEMENT else None
    return Matching(text=format_filters(query), words=now["words"], state=now["state"], agreements=agreed)


def parse_task_filter(text: str) -> TaskFilter:
    """The tasks that a text of ``format_filters`` chooses. Raises InvalidValueError."""
    return parse_asked(_query(text)).filter


def _query(text: str) -> dict[str, str]:
    if len(text) > _MAX_TEXT:
        raise InvalidValueError(_("The filters are too long."))
    query = dict(parse_qsl(text, keep_blank_values=True, errors="surrogateescape"))
    for name in query:
        if name not in _NAMES:
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name=name, choices=", ".join(_NAMES)))
    return query


def _percent(query: Mapping[str, str], name: str) -> int | None:
    text = query.get(name, "").strip()
    return queries.parse_number(text, name, 0, 100) if text else None
