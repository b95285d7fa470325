"""The page of the next steps of a project: which ones there are, and by which rule its tasks become theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from crowdd.core.records.records import Records
from crowdd.features.chains.chains import MAX_NEXT, Chains, PreviewedSource
from crowdd.features.chains.forms import FIELDS, ITEM_TYPES, ROWS, parse_rule, values_of
from crowdd.features.chains.rows import NextStep, OwnProject
from crowdd.features.projects import project_validation
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ConflictError, FormError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import parse_number
from crowdd.kinds.answers import declared
from crowdd.kinds.chains import TESTS, ChainRule, stored_rule
from crowdd.kinds.project import PROJECT

_AT: Final = "/project/<short_name>/next"
_NONE: Final = 0  # the id of no project
NEW: Final = "new"
"""The choice that makes a project."""


class NextStepsPublic(ProjectPublic, WithForm, Message):
    """``steps`` follow the project; ``preview``: what the first complete tasks become, None before it was asked for."""

    steps: list[NextStep]
    preview: list[PreviewedSource] | None


class NextStepsPrivate(ProjectPrivate):
    """``candidates`` can be chosen; ``fields`` are the names of answer fields, ``item_fields`` those with marks."""

    candidates: list[OwnProject]
    fields: list[str]
    item_fields: list[str]
    tests: tuple[str, ...]
    rows: list[int]
    full: bool


class NextStepPages:
    """``/project/<short_name>/next``."""

    def __init__(self, projects: Projects, chains: Chains, records: Records, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._chains, self._records = projects, chains, records
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.save))
        yield post(f"{_AT}/remove", locked_out(self.remove))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The next steps, and a form for one more; ``edit`` has the id of one that is in it."""
        row = await self._projects.owned(short_name, incoming.who)
        steps = await self._chains.next_steps(incoming.who, row["id"])
        edited = next((step for step in steps if str(step["id"]) == incoming.query.get("edit")), None)
        values: dict[str, object]
        if edited is not None:
            values = values_of(stored_rule(edited["rule"])) | {"next": str(edited["id"])}
        else:
            columns = await self._chains.columns(row["id"])
            values = {**dict.fromkeys(FIELDS, ""), "columns": "\n".join(columns)}
        return await self._page(incoming, row, self._forms.filled(incoming, **values), steps=steps)

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Saves a rule; ``btn`` = ``Preview`` shows its effect. ``next`` = ``new``: of a new project ``new_name``."""
        row = await self._projects.owned(short_name, incoming.who)
        form = self._forms.refused(incoming, {}, *FIELDS)
        try:
            rule = parse_rule(form, declared(row["info"]))
            if incoming.field("btn") == "Preview":
                preview = await self._chains.preview(incoming.who, row["id"], rule)
                return await self._page(incoming, row, form, preview=preview)
            await self._save(incoming, row, rule)
        except FormError as error:
            return await self._page(incoming, row, form | {"errors": error.errors}, MISTAKES)
        return Redirect(
            f"/project/{quote(short_name)}/next", _("The next step is saved. Its tasks appear in a few seconds.")
        )

    async def remove(self, incoming: Incoming, short_name: str) -> Response:
        """Ends the link with the next project ``id``; its tasks stay."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._chains.remove(incoming.who, row["id"], parse_number(incoming.field("id")) or _NONE)
        words = _("The chain ends here now. The tasks that were made stay.")
        return Redirect(f"/project/{quote(short_name)}/next", words)

    async def _save(self, incoming: Incoming, row: ProjectPage, rule: ChainRule) -> None:
        """Raises FormError."""
        chosen = incoming.field("next")
        next_id = await self._create(incoming) if chosen == NEW else parse_number(chosen) or _NONE
        try:
            await self._chains.put(incoming.who, row["id"], next_id, rule)
        except NotFoundError:
            raise FormError({"next": [_("Choose one of your projects.")]}) from None
        except (ConflictError, InvalidValueError) as error:
            raise FormError({"next": [str(error)]}) from None

    async def _create(self, incoming: Incoming) -> int:
        """The id of a new draft. Raises FormError."""
        name = incoming.field("new_name").strip()
        short_name = project_validation.slug(name) if name else ""
        if wrong := project_validation.mistakes(name, short_name or "x", name):
            raise FormError({"new_name": next(iter(wrong.values()))})
        values = {"name": name, "short_name": short_name, "description": name}
        try:
            made = await self._records.create(PROJECT, incoming.who, values)
        except (ConflictError, InvalidValueError) as error:
            raise FormError({"new_name": [str(error)]}) from None
        return int(made["id"])

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        form: Form,
        message: Message = NO_MESSAGE,
        *,
        preview: list[PreviewedSource] | None = None,
        steps: list[NextStep] | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row, _("Next steps"))
        steps = await self._chains.next_steps(incoming.who, row["id"]) if steps is None else steps
        fields = declared(row["info"])
        public = NextStepsPublic(**context.public, steps=steps, preview=preview, form=form, **message)
        private = NextStepsPrivate(
            **context.private,
            candidates=await self._chains.candidates(incoming.who, row["id"]),
            fields=[field.name for field in fields],
            item_fields=[field.name for field in fields if field.type in ITEM_TYPES],
            tests=TESTS,
            rows=[*range(1, ROWS + 1)],
            full=len(steps) >= MAX_NEXT,
        )
        return Page("project/next_steps.html", public, private)
