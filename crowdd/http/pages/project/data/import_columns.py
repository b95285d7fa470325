"""What the page of an import says of columns: their roles, and those that the project's questions show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import orjson

from crowdd import exact_json
from crowdd.domain.transfer.imports import ImportPage
from crowdd.domain.transfer.task_files import Dialect
from crowdd.http import starters
from crowdd.http.request import Incoming
from crowdd.kinds import column_roles
from crowdd.kinds.column_roles import HIDDEN
from crowdd.kinds.questions import QUESTIONS, columns_of


@attrs.frozen
class Place:
    """A column that the questions show and the file does not have; ``filled`` is the one that takes its name."""

    column: str
    filled: str


@attrs.frozen
class Columns:
    """``roles`` of the columns of a file; ``named``: the names in the file of those that got another one.

    ``places`` are what the questions miss, ``originals`` the columns that may fill them. ``hidden`` are columns that
    the questions show and the owner hides.
    """

    roles: dict[str, str]
    named: dict[str, str]
    places: list[Place]
    originals: list[str]
    hidden: list[str]


def columns(info: Mapping[str, object], import_row: ImportPage) -> Columns:
    """Those of a file for a project with this ``info``."""
    shown, names = shown_columns(info), _names(import_row)
    named = {new: old for old, new in names.items()}
    originals = [named.get(name, name) for name in import_row["columns"]]
    places = [Place(name, named.get(name, "")) for name in shown if name not in originals]
    known = column_roles.of(info)
    roles = {**_without(import_row["suggested"], shown), **known, **import_row["roles"]}
    roles = {name: roles.get(name, "") for name in import_row["columns"]}
    return Columns(roles, named, places, originals, [name for name in shown if roles.get(name) == HIDDEN])


def chosen_roles(incoming: Incoming, import_row: ImportPage | None) -> Any:
    """The roles in a request; None if it names none."""
    if "roles" in incoming.form:
        return chosen_object(incoming.form["roles"])
    names = [] if import_row is None else import_row["columns"]
    roles = {name: incoming.field(f"role_{n}") for n, name in enumerate(names) if f"role_{n}" in incoming.form}
    return roles or None


def chosen_names(incoming: Incoming, info: Mapping[str, object], import_row: ImportPage | None) -> Any:
    """Other names of columns in a request; None if it names none."""
    if "names" in incoming.form:
        return chosen_object(incoming.form["names"])
    if import_row is None or not any(name.startswith("place_") for name in incoming.form):
        return None
    places = columns(info, import_row).places
    chosen = {incoming.field(f"place_{n}"): place.column for n, place in enumerate(places)}
    return {old: new for old, new in chosen.items() if old}


def chosen_object(value: object) -> Any:
    """An object of a request, which a form with a file sends as JSON text."""
    try:
        return exact_json.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return value


def shown_columns(info: Mapping[str, object]) -> list[str]:
    """The columns that the project's questions or its starter show."""
    document = info.get("task_presenter")
    if isinstance(document, str) and document:
        asked = starters.asked(document) or {}
        return [name for word in starters.COLUMNS if (name := asked.get(word))]
    return columns_of(info.get(QUESTIONS))


def _names(import_row: ImportPage) -> Mapping[str, str]:
    return Dialect.from_json(import_row["dialect"]).names if import_row["dialect"] else {}


def _without(suggested: Mapping[str, str], shown: list[str]) -> dict[str, str]:
    """Nothing that the questions show is suggested to be hidden."""
    return {name: role for name, role in suggested.items() if role != HIDDEN or name not in shown}
