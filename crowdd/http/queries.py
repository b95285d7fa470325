"""The query string of a list, read into a Query (interface: list-filter, list-unknown)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from crowdd.errors import InvalidValueError
from crowdd.kinds.kind import Field, Kind
from crowdd.kinds.types import Boolean, Integer, Json, clean_text
from crowdd.requester import Requester
from crowdd.storage.core.listing import Filter, Query

DEFAULT_LIMIT = 20
MAX_LIMIT = 100

UNSPECIFIC = frozenset({"api_key", "response_format", "_"})  # may stand in any query
# Words that steer a list and are no attributes; "_" is a cache buster of browsers.
CONTROL = frozenset(
    {
        "limit",
        "offset",
        "last_id",
        "orderby",
        "desc",
        "all",
        "api_key",
        "participated",
        "response_format",
        "related",
        "fulltextsearch",
        "_",
    }
)
# Further ones of some kinds.
CONTROL_OF = {
    "task": frozenset({"external_uid"}),
    "project": frozenset({"stats"}),
    "projectstats": frozenset({"full"}),
}


def parse(kind: Kind, arguments: Mapping[str, str], who: Requester, volunteer: Requester | None = None) -> Query:
    """The list that the arguments ask for. ``volunteer``: who has ``participated``, if not the requester.

    Raises UnknownFieldError for a name that is no attribute, InvalidValueError for a value that its type cannot hold.
    """
    fulltext = arguments.get("fulltextsearch") == "1"
    control = CONTROL | CONTROL_OF.get(kind.name, frozenset())
    filters = [
        one for name, text in arguments.items() if name not in control for one in _filters(kind, name, text, fulltext)
    ]
    if kind.name == "result" and "last_version" not in arguments:
        filters.append(Filter(kind.field("last_version"), True))
    order = kind.searchable(arguments["orderby"]).name if arguments.get("orderby") else "id"
    return Query(
        kind=kind,
        filters=tuple(filters),
        order=order,
        descending=flag(arguments.get("desc", ""), "desc"),
        limit=min(number(arguments.get("limit", ""), "limit", DEFAULT_LIMIT), MAX_LIMIT),
        offset=number(arguments.get("offset", ""), "offset", 0),
        last_id=number(arguments["last_id"], "last_id", 0) if arguments.get("last_id") else None,
        own=kind.context and who.acting_user is not None and arguments.get("all") not in ("1", "true", "True"),
        without_actor=clean_text((volunteer or who).actor) if asks_participated(kind, arguments) else "",
    )


def asks_participated(kind: Kind, arguments: Mapping[str, str]) -> bool:
    """Whether tasks that a volunteer has answered are left out."""
    return kind.name == "task" and bool(arguments.get("participated"))


def require_known(kind: Kind, arguments: Mapping[str, str]) -> None:
    """Passes when the query of a write names nothing but attributes; UnknownFieldError otherwise."""
    for name in arguments.keys() - UNSPECIFIC:
        kind.field(name)


def number(text: str, name: str, default: int, maximum: int = 2**63 - 1) -> int:
    """A whole number of a query, 0 or more."""
    if text == "":
        return default
    try:
        return Integer(minimum=0, maximum=maximum).parse(text)
    except InvalidValueError as error:
        raise InvalidValueError(f"{name} {error}.") from None


def flag(text: str, name: str) -> bool:
    """A yes or no of a query; nothing means no."""
    try:
        return bool(text) and Boolean().parse(text)
    except InvalidValueError as error:
        raise InvalidValueError(f"{name} {error}.") from None


def _filters(kind: Kind, name: str, text: str, fulltext: bool) -> Iterable[Filter]:
    field = kind.searchable(name)
    if isinstance(field.type, Json):
        return _json_filters(field, text, fulltext)
    if isinstance(field.type, Integer):
        return [Filter(field, _integers(field, text))]
    return [Filter(field, field.from_text(text))]


def _integers(field: Field, text: str) -> list[int]:
    """One number, or several as ``1,2`` or ``[1,2]``."""
    words = re.split(r"[\s,]+", text.strip().removeprefix("[").removesuffix("]").strip())
    return [field.from_text(word) for word in words]


def _json_filters(field: Field, text: str, fulltext: bool) -> list[Filter]:
    """``key::value|key2::value2`` compares first-level keys; anything else is contained in the value."""
    if "::" not in text:
        return [Filter(field, field.from_text(text))]
    return [
        Filter(field, words(value) if fulltext else clean_text(value), clean_text(key), fulltext)
        for key, value in _pairs(field, text)
    ]


def _pairs(field: Field, text: str) -> list[list[str]]:
    """The keys and values of ``key::value|key2::value2``; a | that no key follows belongs to the value."""
    pairs: list[list[str]] = []
    for part in text.split("|"):
        key, sign, value = part.partition("::")
        if key and sign:
            pairs.append([key, value])
        elif pairs:
            pairs[-1][1] += f"|{part}"
        else:
            raise InvalidValueError(f"{field.name} must be key::value, or several of them separated by |.")
    return pairs


def words(text: str) -> str:
    """A tsquery for words joined by & (all) and | (any); words side by side must all be there."""
    parts = []
    for operand in re.split(r"([&|])", clean_text(text)):
        terms = re.findall(r"\w+", operand)
        parts.append(operand if operand in ("&", "|") else "(" + " & ".join(f"'{word}'" for word in terms) + ")")
    if "()" in parts:
        raise InvalidValueError("The full-text search has no word between its operators.")
    return " ".join(parts)
