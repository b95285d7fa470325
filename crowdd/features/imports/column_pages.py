"""The pages about columns: their roles in a project and in an import, and which ones volunteers do not see."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict
from urllib.parse import quote

import attrs
import orjson

from crowdd.features.imports import import_roles
from crowdd.features.imports.files import Dialect
from crowdd.features.imports.imports import ImportPage
from crowdd.features.projects import starters
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.tasks.task_list import Browsing
from crowdd.http.html.forms import MISTAKES, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel import exact_json
from crowdd.kernel.errors import ConflictError, FormError
from crowdd.kernel.languages import _
from crowdd.kinds import column_roles
from crowdd.kinds.column_roles import COLUMN_ROLES, HIDDEN
from crowdd.kinds.questions import QUESTIONS, columns_of
from crowdd.kinds.types import missing


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


def describe_columns(info: Mapping[str, object], import_row: ImportPage) -> Columns:
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
    places = describe_columns(info, import_row).places
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


_AT = "/project/<short_name>/tasks/columns"
_TASKS = 3  # whose values are shown
Roles = Mapping[str, str]


class Column(TypedDict):
    """A column with its role ("" for none), and its values in the first tasks."""

    name: str
    role: str
    values: list[str | None]


class ColumnsPublic(ProjectPublic, WithForm, Message):
    columns: list[Column]


class ColumnsPrivate(ProjectPrivate):
    """``missed`` are hidden columns that the questions show. ``unsaved``: the roles are not the stored ones."""

    missed: list[str]
    unsaved: bool


class ColumnPages:
    """``/project/<short_name>/tasks/columns``."""

    def __init__(self, projects: Projects, browsing: Browsing, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._browsing, self._forms, self._views = projects, browsing, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.save))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The columns of the tasks with their roles."""
        row = await self._projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, column_roles.of(row["info"]), _state(row))

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Changes roles, or with ``check`` shows what volunteers would get."""
        row = await self._projects.owned(short_name, incoming.who)
        chosen, base = _chosen(incoming), incoming.field("base")
        try:
            roles = import_roles.merge_roles(row["info"].get(COLUMN_ROLES), chosen)
            if incoming.flag("check", False):
                return await self._page(incoming, row, roles, base)
            await self._keep(incoming, row, roles, base)
        except FormError as error:
            row = await self._projects.owned(short_name, incoming.who)
            known = {**column_roles.of(row["info"]), **chosen}
            return await self._page(incoming, row, known, _state(row), MISTAKES, error.errors)
        words = _("Saved. Volunteers get tasks like this from now on.")
        return Redirect(f"/project/{quote(short_name)}/tasks/columns", words)

    async def _keep(self, incoming: Incoming, row: ProjectPage, roles: Roles, base: str) -> None:
        try:
            if base and base != _state(row):
                raise ConflictError("base")
            expected = {COLUMN_ROLES: row["info"].get(COLUMN_ROLES)}
            await self._projects.tell(row, {COLUMN_ROLES: dict(roles)}, incoming.who, expected)
        except ConflictError:
            words = _("The columns were changed meanwhile. Your choices are kept here: check them, and save again.")
            raise FormError({"roles": [words]}) from None

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        roles: Roles,
        base: str,
        message: Message = NO_MESSAGE,
        errors: Mapping[str, list[str]] | None = None,
    ) -> Response:
        known, _shown = await self._browsing.columns(row, None)
        names = list(dict.fromkeys([*known, *roles]))
        values = await self._browsing.first_values(row, names, _TASKS)
        context = await self._views.context(incoming, row, _("Columns of tasks"))
        form = self._forms.filled(incoming, base=base) | {"errors": dict(errors or {})}
        columns = _listed(names, roles, values)
        public = ColumnsPublic(**context.public, **message, form=form, columns=columns)
        missed = [name for name in shown_columns(row["info"]) if roles.get(name) == HIDDEN]
        unsaved = {name: role for name, role in roles.items() if role} != column_roles.of(row["info"])
        return Page("project/columns.html", public, ColumnsPrivate(**context.private, missed=missed, unsaved=unsaved))


def _listed(names: Sequence[str], roles: Roles, values: Sequence[list[str | None]]) -> list[Column]:
    return [
        Column(name=name, role=roles.get(name, ""), values=column_values)
        for name, column_values in zip(names, values, strict=True)
    ]


def _chosen(incoming: Incoming) -> dict[str, str]:
    """The roles in a request: the object ``roles``, or the pairs of a form. Raises InvalidValueError."""
    if "roles" in incoming.form:
        return import_roles.check_roles(chosen_object(incoming.form["roles"]), ())
    pairs = {
        incoming.field(f"name_{n}"): incoming.field(f"role_{n}")
        for n in range(column_roles.MAX_COLUMNS * 2)
        if f"name_{n}" in incoming.form
    }
    if not pairs:
        raise missing("roles")
    return import_roles.check_roles(pairs, ())


def _state(row: ProjectPage) -> str:
    """What the roles are now, by which a form notices that somebody else changed them."""
    stored: Any = row["info"].get(COLUMN_ROLES)
    return hashlib.sha256(orjson.dumps(stored, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
