"""The query string of a list, and objects as they were at a time (interface: list-filter, list-unknown, list-at)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from crowdd.core.records.history import HISTORIC, Asked, History
from crowdd.core.records.listing_statements import Filter, Query
from crowdd.kernel.errors import InvalidRequestError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.kind import Field, Kind
from crowdd.kinds.types import Boolean, Integer, Json, Timestamp, clean_text

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


def parse_query(kind: Kind, arguments: Mapping[str, str], who: Requester, volunteer: Requester | None = None) -> Query:
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
        descending=parse_flag(arguments.get("desc", ""), "desc"),
        limit=min(parse_number(arguments.get("limit", ""), "limit", DEFAULT_LIMIT), MAX_LIMIT),
        offset=parse_number(arguments.get("offset", ""), "offset", 0),
        last_id=parse_number(arguments["last_id"], "last_id", 0) if arguments.get("last_id") else None,
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


def parse_number(text: str, name: str, default: int, maximum: int = 2**63 - 1) -> int:
    """A whole number of a query, 0 or more."""
    if text == "":
        return default
    try:
        return Integer(minimum=0, maximum=maximum).parse(text)
    except InvalidValueError as error:
        raise InvalidValueError(f"{name} {error}.") from None


def parse_flag(text: str, name: str) -> bool:
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


_ALWAYS = UNSPECIFIC | {"at", "all"}
_PAGES = _ALWAYS | {"project_id", "limit", "last_id"}
_LIST = {
    "task": _PAGES,
    "taskrun": _PAGES | {"task_id"},
    "result": _PAGES | {"task_id", "last_version"},
    "projectstats": _PAGES,
}


class PastObjects:
    """Lists and reads the objects that a query asks for. Raises what ``History`` raises, and as ``parse_past_list``."""

    def __init__(self, history: History) -> None:
        self._history = history

    async def list(self, kind: str, who: Requester, arguments: Mapping[str, str]) -> list[Values]:
        """Objects of a kind."""
        return await self._history.rows(who, parse_past_list(kind, arguments))

    async def get(self, kind: str, who: Requester, object_id: int, arguments: Mapping[str, str]) -> Values:
        """One object."""
        return await self._history.get(kind, who, object_id, parse_past_time(arguments))


def asks_past(kind: str, arguments: Mapping[str, str]) -> bool:
    """Whether a query asks for what was, of a kind that has a history."""
    return "at" in arguments and kind in HISTORIC


def parse_past_list(kind: str, arguments: Mapping[str, str]) -> Asked:
    """The list that the arguments ask for.

    Raises InvalidRequestError for what does not go together, InvalidValueError for a value that is none.
    """
    _require_only(arguments, _LIST[kind])
    if not arguments.get("project_id") and not ("task_id" in _LIST[kind] and arguments.get("task_id")):
        raise InvalidRequestError(_("A list with `at` needs `project_id`."))
    return Asked(
        kind,
        moment(arguments["at"]),
        project_id=_id(arguments, "project_id"),
        task_id=_id(arguments, "task_id"),
        last_version=parse_flag(arguments.get("last_version") or "true", "last_version") if kind == "result" else None,
        last_id=parse_number(arguments.get("last_id", ""), "last_id", 0),
        limit=min(parse_number(arguments.get("limit", ""), "limit", DEFAULT_LIMIT), MAX_LIMIT),
    )


def parse_past_time(arguments: Mapping[str, str]) -> datetime:
    """The time of one object. Raises as ``parse_past_list``."""
    _require_only(arguments, _ALWAYS)
    return moment(arguments["at"])


def moment(text: str) -> datetime:
    """A time as filters take it, or one with a zone; of a day its beginning. Without a zone it is UTC."""
    kind = Timestamp()
    try:
        return kind.from_text(text)[0]
    except InvalidValueError:
        pass
    try:
        return kind.parse(text.strip().replace(" ", "+"))  # a plus sign that was not encoded
    except (InvalidValueError, OverflowError):
        raise InvalidValueError(_("`at` must be an ISO 8601 time.")) from None


def _id(arguments: Mapping[str, str], name: str) -> int | None:
    return parse_number(arguments[name], name, 0) if arguments.get(name) else None


def _require_only(arguments: Mapping[str, str], known: frozenset[str]) -> None:
    for name in sorted(arguments.keys() - known):
        raise InvalidRequestError(_("`at` cannot be combined with `%(name)s`.", name=name[:100]))
