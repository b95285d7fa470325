"""Pages that add, change and delete categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from crowdd.domain.accounts.account_validation import found, unusable
from crowdd.domain.core.records import Records
from crowdd.domain.projects.project_validation import slug
from crowdd.domain.server.administration import Administration
from crowdd.errors import ConflictError
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.admin.access import MAX_CHARACTERS, admins_only, field_errors, taken
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.values import Values

_HERE = "/admin/categories"
_FIELDS = ("name", "description")
_MAXIMUM = {"name": MAX_CHARACTERS, "description": 10_000}


class CategoriesPublic(Titled, WithForm, Message):
    categories: list[Values]
    n_projects_per_category: dict[str, int]


class CategoriesPrivate(TypedDict):
    used: set[int]


class CategoryPublic(Titled, WithForm, Message):
    category: Values


class AdminCategories:
    """``/admin/categories`` and what is below."""

    def __init__(self, administration: Administration, records: Records, forms: Forms) -> None:
        self._administration, self._records, self._forms = administration, records, forms

    def routes(self) -> Iterator[Route]:
        yield get(_HERE, admins_only(self.categories))
        yield post(_HERE, admins_only(self.add))
        yield get(f"{_HERE}/update/<int:category_id>", admins_only(self.update_form))
        yield post(f"{_HERE}/update/<int:category_id>", admins_only(self.update))
        yield get(f"{_HERE}/del/<int:category_id>", admins_only(self.delete_form))
        yield post(f"{_HERE}/del/<int:category_id>", admins_only(self.delete))

    async def categories(self, incoming: Incoming) -> Response:
        return await self._page(incoming, self._forms.blank(incoming, *_FIELDS))

    async def add(self, incoming: Incoming) -> Response:
        """The same page with the new one in its list, the form as it was sent (interface: admin-categories)."""
        wrong = _errors(incoming) or await self._added(incoming)
        form = self._forms.refused(incoming, wrong, *_FIELDS)
        message = MISTAKES if wrong else Message(flash=_("Category added."), status="success")
        return await self._page(incoming, form, message)

    async def _added(self, incoming: Incoming) -> dict[str, list[str]]:
        name, description = (incoming.field(field).strip() for field in _FIELDS)
        body = {"name": name, "short_name": slug(name, "category"), "description": description}
        try:
            await self._records.create(CATEGORY, incoming.who, body)
        except ConflictError as error:
            return taken(error)
        return {}

    async def _page(self, incoming: Incoming, form: Form, message: Message = NO_MESSAGE) -> Response:
        rows: Sequence[Mapping[str, Any]] = await self._administration.categories(incoming.who)
        public = CategoriesPublic(
            title=_("Categories"),
            categories=[{field.name: outward(row[field.name]) for field in CATEGORY.fields} for row in rows],
            form=form,
            n_projects_per_category={row["short_name"]: row["n_projects"] for row in rows},
            **message,
        )
        private = CategoriesPrivate(used={row["id"] for row in rows if row["used"]})
        return Page("admin/categories.html", public, private)

    async def update_form(self, incoming: Incoming, category_id: int) -> Response:
        category = await self._records.get(CATEGORY, incoming.who, category_id)
        form = self._forms.blank(incoming) | {name: category[name] for name in ("id", *_FIELDS)}
        return self._update_page(category, form)

    async def update(self, incoming: Incoming, category_id: int) -> Response:
        category = await self._records.get(CATEGORY, incoming.who, category_id)
        wrong = _errors(incoming)
        try:
            if not wrong:
                changes = {name: incoming.field(name).strip() for name in _FIELDS}
                await self._records.change(CATEGORY, incoming.who, category_id, changes)
        except ConflictError as error:
            wrong = taken(error)
        if wrong:
            form = self._forms.refused(incoming, wrong, *_FIELDS) | {"id": category_id}
            return self._update_page(category, form, MISTAKES)
        return Redirect(_HERE, _("Category changed."))

    def _update_page(self, category: Values, form: Form, message: Message = NO_MESSAGE) -> Response:
        return Page(
            "admin/update_category.html",
            CategoryPublic(title=_("Change a category"), category=category, form=form, **message),
        )

    async def delete_form(self, incoming: Incoming, category_id: int) -> Response:
        category = await self._records.get(CATEGORY, incoming.who, category_id)
        form = self._forms.blank(incoming)
        return Page(
            "admin/delete_category.html", CategoryPublic(title=_("Delete a category"), category=category, form=form)
        )

    async def delete(self, incoming: Incoming, category_id: int) -> Response:
        """Deletes the category. One with projects, and the last one, cannot be deleted."""
        try:
            await self._records.delete(CATEGORY, incoming.who, category_id)
        except ConflictError as error:
            words = (
                error.args[0]
                if not error.constraint
                else _("This category still has projects. Move them to another category first.")
            )
            return Redirect(_HERE, words, "error")
        return Redirect(_HERE, _("Category deleted."))


def _errors(incoming: Incoming) -> dict[str, list[str]]:
    unusable_name = found({"name": unusable(CATEGORY.field("name").type, incoming.field("name"))})
    return unusable_name | field_errors(incoming, _MAXIMUM)
