"""Which project a request is about, by its address and its body: what decides which database serves it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from crowdd.domain.projects.project_validation import RESERVED_SHORT_NAMES
from crowdd.domain.server.shards.locations import QUEUE, ProjectId, Reference, RowId, ShortName

# Kinds of rows that belong to a project and have ids of their own, by their names in addresses.
OF_PROJECTS: Final = frozenset({"task", "taskrun", "result", "blogpost", "helpingmaterial"})
# What the id of a project is called in queries for lists.
_NAMES_OF_PROJECT_ID: Final[Mapping[str, Sequence[str]]] = {"project": ("id",), "projectstats": ("project_id", "id")}
_MADE_IN_PROJECTS: Final = OF_PROJECTS | {"favorites"}
_DECODER: Final = json.JSONDecoder()
_UPLOADS: Final = re.compile(r"project-([0-9]{1,18})")


def of_address(words: Sequence[str], query: Mapping[str, str]) -> Reference | None:
    """The project in the segments of a path, or else in the query."""
    reference = _of_path(words)
    return reference if reference is not None or words[:1] != ["api"] else _of_query(words, query)


def _of_path(words: Sequence[str]) -> Reference | None:
    match words:
        case ["project", name, *_] if name and name not in RESERVED_SHORT_NAMES:
            return ShortName(name)
        case ["api", "project" | "projectstats", reference, *_] if reference:
            return _project(reference)
        case ["api", "auth", "project", name, *_]:
            return ShortName(name)
        case ["api", "favorites", number, *_] if number:
            return _row("task", number)
        case ["api", "queue", number, *_] if number:
            return _row(QUEUE, number)
        case ["api", kind, number, *_] if kind in OF_PROJECTS and number:
            return _row(kind, number)
        case ["api", reference, "newtask", *_]:
            return _project(reference)
        case ["uploads", container, *_]:
            own = _UPLOADS.fullmatch(container)
            return ProjectId(int(own[1])) if own else None
        case ["admin", "featured", number, *_] if number:
            return _project(number)
    return None


def _of_query(words: Sequence[str], query: Mapping[str, str]) -> Reference | None:
    kind = words[1] if len(words) > 1 else ""
    for name in _NAMES_OF_PROJECT_ID.get(kind, ("project_id",)):
        if query.get(name):
            return _project(query[name])
    if query.get("short_name"):
        return ShortName(query["short_name"])
    if kind in OF_PROJECTS and query.get("id"):
        return _row(kind, query["id"])
    return _row("task", query["task_id"]) if kind in OF_PROJECTS and query.get("task_id") else None


def of_body(words: Sequence[str], body: bytes) -> Reference | None:
    """The project of what a request to the API makes; of a list, that of its first row."""
    if len(words) < 2 or words[0] != "api" or words[1] not in _MADE_IN_PROJECTS:
        return None
    row = _first_row(body.lstrip())
    if not isinstance(row, dict):
        return None
    if row.get("project_id") is not None:
        return _project(str(row["project_id"]))
    return _row("task", str(row["task_id"])) if row.get("task_id") is not None else None


def _first_row(body: bytes) -> object:
    """The value, or the first of an array, which may be long: the others are not looked at."""
    try:
        if body[:1] != b"[":
            return orjson.loads(body)
        text = body[1:].decode().lstrip()
        return _DECODER.raw_decode(text)[0]
    except ValueError:  # also bytes that are not UTF-8
        return None


def needs_project(words: Sequence[str]) -> bool:
    """Whether an address lists rows of projects, wherever these live."""
    return len([*filter(None, words)]) == 2 and words[0] == "api" and words[1] in OF_PROJECTS


def _project(text: str) -> Reference:
    return ProjectId(int(text)) if _is_id(text) else ShortName(text)


def _row(kind: str, text: str) -> Reference | None:
    return RowId(kind, int(text)) if _is_id(text) else None


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
