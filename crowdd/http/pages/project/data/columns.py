"""The columns of tasks: what each of them is, and which ones volunteers do not see."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict
from urllib.parse import quote

import orjson

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.task_list import Browsing
from crowdd.domain.transfer import import_roles
from crowdd.errors import ConflictError, FormError, InvalidValueError
from crowdd.http.html.forms import MISTAKES, Forms, WithForm
from crowdd.http.pages.project.data.import_columns import chosen_object, shown_columns
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds import column_roles
from crowdd.kinds.column_roles import COLUMN_ROLES, HIDDEN
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage

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
            roles = import_roles.merged(row["info"].get(COLUMN_ROLES), chosen)
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
        return import_roles.checked(chosen_object(incoming.form["roles"]), ())
    pairs = {
        incoming.field(f"name_{n}"): incoming.field(f"role_{n}")
        for n in range(column_roles.MAX_COLUMNS * 2)
        if f"name_{n}" in incoming.form
    }
    if not pairs:
        raise InvalidValueError(_("`roles` must be an object."))
    return import_roles.checked(pairs, ())


def _state(row: ProjectPage) -> str:
    """What the roles are now, by which a form notices that somebody else changed them."""
    stored: Any = row["info"].get(COLUMN_ROLES)
    return hashlib.sha256(orjson.dumps(stored, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
