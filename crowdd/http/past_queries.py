"""Objects as they were at a time, for query strings with ``at`` (interface: list-at)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from crowdd.domain.tasks.history import HISTORIC, Asked, History
from crowdd.errors import InvalidRequestError, InvalidValueError
from crowdd.http.queries import DEFAULT_LIMIT, MAX_LIMIT, UNSPECIFIC, flag, number
from crowdd.kinds.types import Timestamp
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.values import Values

_ALWAYS = UNSPECIFIC | {"at", "all"}
_PAGES = _ALWAYS | {"project_id", "limit", "last_id"}
_LIST = {
    "task": _PAGES,
    "taskrun": _PAGES | {"task_id"},
    "result": _PAGES | {"task_id", "last_version"},
    "projectstats": _PAGES,
}


class PastObjects:
    """Lists and reads the objects that a query asks for. Raises what ``History`` raises, and as ``listing``."""

    def __init__(self, history: History) -> None:
        self._history = history

    async def list(self, kind: str, who: Requester, arguments: Mapping[str, str]) -> list[Values]:
        """Objects of a kind."""
        return await self._history.rows(who, listing(kind, arguments))

    async def get(self, kind: str, who: Requester, object_id: int, arguments: Mapping[str, str]) -> Values:
        """One object."""
        return await self._history.get(kind, who, object_id, reading(arguments))


def asks(kind: str, arguments: Mapping[str, str]) -> bool:
    """Whether a query asks for what was, of a kind that has a history."""
    return "at" in arguments and kind in HISTORIC


def listing(kind: str, arguments: Mapping[str, str]) -> Asked:
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
        last_version=flag(arguments.get("last_version") or "true", "last_version") if kind == "result" else None,
        last_id=number(arguments.get("last_id", ""), "last_id", 0),
        limit=min(number(arguments.get("limit", ""), "limit", DEFAULT_LIMIT), MAX_LIMIT),
    )


def reading(arguments: Mapping[str, str]) -> datetime:
    """The time of one object. Raises as ``listing``."""
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
    return number(arguments[name], name, 0) if arguments.get(name) else None


def _require_only(arguments: Mapping[str, str], known: frozenset[str]) -> None:
    for name in sorted(arguments.keys() - known):
        raise InvalidRequestError(_("`at` cannot be combined with `%(name)s`.", name=name[:100]))
