"""Featured projects: the ones that the operators of the site recommend."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.core.records import Records
from crowdd.domain.projects.serializers import project_summary
from crowdd.domain.server.administration import Administration
from crowdd.errors import InvalidValueError
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.project import PROJECT
from crowdd.languages import _
from crowdd.values import Values

_HERE = "/admin/featured"


class FeaturedPublic(Titled, WithForm):
    categories: dict[str, list[Values]]


class AdminFeatured:
    """``/admin/featured``: lists projects, and features them or stops featuring them."""

    def __init__(self, administration: Administration, records: Records, forms: Forms) -> None:
        self._administration, self._records, self._forms = administration, records, forms

    def routes(self) -> Iterator[Route]:
        yield get(_HERE, admins_only(self.listed))
        yield post(f"{_HERE}/<int:project_id>", admins_only(self.add))
        yield Route("DELETE", f"{_HERE}/<int:project_id>", admins_only(self.remove))
        yield post(f"{_HERE}/<int:project_id>/remove", admins_only(self.remove))  # forms cannot DELETE

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
        return Redirect(_HERE, words, more=changed)
