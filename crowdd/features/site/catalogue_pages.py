"""The administrators' pages of categories, featured projects, and all projects with drafts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from crowdd.core.records.records import Records
from crowdd.features.accounts.validation import check_characters, select_mistakes
from crowdd.features.projects.project_validation import slug
from crowdd.features.projects.serializers import project_summary
from crowdd.features.projects.views import MAX_CHARACTERS, admins_only, field_errors, taken_name_errors
from crowdd.features.site.administration import Administration
from crowdd.features.site.statements import ORDERS, STATES
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.tables import RowList, outward_rows, page_csv
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ConflictError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.kind import outward
from crowdd.kinds.project import PROJECT

_CATEGORIES_HERE = "/admin/categories"
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
        yield get(_CATEGORIES_HERE, admins_only(self.categories))
        yield post(_CATEGORIES_HERE, admins_only(self.add))
        yield get(f"{_CATEGORIES_HERE}/update/<int:category_id>", admins_only(self.update_form))
        yield post(f"{_CATEGORIES_HERE}/update/<int:category_id>", admins_only(self.update))
        yield get(f"{_CATEGORIES_HERE}/del/<int:category_id>", admins_only(self.delete_form))
        yield post(f"{_CATEGORIES_HERE}/del/<int:category_id>", admins_only(self.delete))

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
            return taken_name_errors(error)
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
            wrong = taken_name_errors(error)
        if wrong:
            form = self._forms.refused(incoming, wrong, *_FIELDS) | {"id": category_id}
            return self._update_page(category, form, MISTAKES)
        return Redirect(_CATEGORIES_HERE, _("Category changed."))

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
            return Redirect(_CATEGORIES_HERE, words, "error")
        return Redirect(_CATEGORIES_HERE, _("Category deleted."))


def _errors(incoming: Incoming) -> dict[str, list[str]]:
    unusable_name = select_mistakes({"name": check_characters(CATEGORY.field("name").type, incoming.field("name"))})
    return unusable_name | field_errors(incoming, _MAXIMUM)


_FEATURED_HERE = "/admin/featured"


class FeaturedPublic(Titled, WithForm):
    categories: dict[str, list[Values]]


class AdminFeatured:
    """``/admin/featured``: lists projects, and features them or stops featuring them."""

    def __init__(self, administration: Administration, records: Records, forms: Forms) -> None:
        self._administration, self._records, self._forms = administration, records, forms

    def routes(self) -> Iterator[Route]:
        yield get(_FEATURED_HERE, admins_only(self.listed))
        yield post(f"{_FEATURED_HERE}/<int:project_id>", admins_only(self.add))
        yield Route("DELETE", f"{_FEATURED_HERE}/<int:project_id>", admins_only(self.remove))
        yield post(f"{_FEATURED_HERE}/<int:project_id>/remove", admins_only(self.remove))  # forms cannot DELETE

    async def listed(self, incoming: Incoming) -> Response:
        """Published projects by the short name of their category."""
        categories = await self._administration.categories(incoming.who)
        names = {row["id"]: row["short_name"] for row in categories}
        projects_by_category: dict[str, list[Values]] = {name: [] for name in names.values()}
        for row in await self._administration.published(incoming.who):
            projects_by_category[names[row["category_id"]]].append(project_summary(row, owned=True))
        form = self._forms.blank(incoming)
        return Page(
            "admin/featured.html",
            FeaturedPublic(title=_("Featured projects"), categories=projects_by_category, form=form),
        )

    async def add(self, incoming: Incoming, project_id: int) -> Response:
        return await self._set(incoming, project_id, True)

    async def remove(self, incoming: Incoming, project_id: int) -> Response:
        return await self._set(incoming, project_id, False)

    async def _set(self, incoming: Incoming, project_id: int, featured: bool) -> Response:
        """Programs get the project's record beside the message. Raises InvalidValueError when it is so already."""
        project = await self._records.get(PROJECT, incoming.who, project_id)
        if project["featured"] is featured:
            raise InvalidValueError(
                _("This project is already featured.") if featured else _("This project is not featured.")
            )
        changed = await self._records.change(PROJECT, incoming.who, project_id, {"featured": featured})
        name = changed["name"]
        words = (
            _("%(name)s is now featured.", name=name) if featured else _("%(name)s is no longer featured.", name=name)
        )
        return Redirect(_FEATURED_HERE, words, more=changed)


_LIST, _FILTERED = RowList(tuple(ORDERS)), RowList()
_COLUMNS = (
    "id",
    "name",
    "short_name",
    "owner",
    "state",
    "featured",
    "created",
    "n_tasks",
    "n_task_runs",
    "last_activity",
)


class Chosen(TypedDict):
    """The filters: a state, and the user name of an owner."""

    state: str | None
    owner: str | None


class ProjectsPublic(Titled):
    """``next`` is the project beside which the next page begins, None on the last one."""

    projects: list[Values]
    states: list[str]
    chosen: Chosen
    next: int | None


class AdminProjects:
    """``/admin/projects``."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    def routes(self) -> Iterator[Route]:
        yield get("/admin/projects", admins_only(self.projects))

    async def projects(self, incoming: Incoming) -> Response:
        """A page of projects. ``state`` and ``owner`` are filters; without them the list can be sorted by name."""
        state, owner = (incoming.query.get(name, "").strip() or None for name in ("state", "owner"))
        if state is not None and state not in STATES:
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="state", choices=", ".join(STATES)))
        row_list = _FILTERED if state or owner else _LIST
        place = row_list.place(incoming)
        part = await self._administration.projects(incoming.who, place, state=state, owner=owner)
        rows = outward_rows(part.rows)
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv("projects", _COLUMNS, rows)
        public = ProjectsPublic(
            title=_("Projects"),
            projects=rows,
            states=list(STATES),
            chosen=Chosen(state=state, owner=owner),
            next=part.rows[-1]["id"] if part.next else None,
        )
        filters = {"state": state or "", "owner": owner or ""}
        return Page("admin/projects.html", public, row_list.drawn(place, filters, part, lambda row: row["id"]))
