"""Answers to a task that an owner has selected: deleted, or their volunteers barred. A page first shows the effect."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import attrs

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.barring import Barring
from crowdd.domain.tasks.changes import MAX_ANSWERS, Changes
from crowdd.domain.tasks.task_list import Browsing
from crowdd.http.html.forms import Forms
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out, numbers_in
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _, ngettext
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

_AT = "/project/<short_name>/tasks/<int:task_id>/answers"
_DIGITS = 19  # numbers with fewer digits are ids that the database knows


class AnswersPublic(ProjectPublic):
    """``effect`` is what deleting would do, None where volunteers are to be barred."""

    task_id: int
    task_runs: list[Values]
    effect: Values | None
    csrf: str


class AnswersPrivate(ProjectPrivate):
    """``volunteers`` go by the id of the answer."""

    volunteers: dict[int, Values]


class AnswerSelectionPages:
    """``/project/<short_name>/tasks/<task_id>/answers/delete`` and ``…/bar``."""

    def __init__(
        self,
        projects: Projects,
        browsing: Browsing,
        changes: Changes,
        barring: Barring,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._browsing, self._changes, self._barring = projects, browsing, changes, barring
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/delete", locked_out(self.ask_to_delete))
        yield post(f"{_AT}/delete", locked_out(self.delete))
        yield get(f"{_AT}/bar", locked_out(self.ask_to_bar))
        yield post(f"{_AT}/bar", locked_out(self.bar))

    async def ask_to_delete(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Shows the answers that the address names, and what deleting them would do."""
        return await self._ask(incoming, short_name, task_id, _("Delete answers"), deletes=True)

    async def ask_to_bar(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Shows the answers that the address names, whose volunteers would be barred."""
        return await self._ask(incoming, short_name, task_id, _("Bar volunteers"), deletes=False)

    async def _ask(self, incoming: Incoming, short_name: str, task_id: int, title: str, *, deletes: bool) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        ids = _named(incoming)
        task_details = await self._browsing.task(incoming.who, row, task_id, min(ids, default=1) - 1)
        runs = [run for run in task_details["task_runs"] if run["id"] in ids]
        if not runs:
            return Redirect(_at(row, task_id), _("Select answers first."), "error")
        effect = None
        if deletes:
            named = [run["id"] for run in runs]
            effect = await self._changes.withdraw_answers(incoming.who, row["id"], task_id, named, dry_run=True)
        context = await self._views.context(incoming, row, title)
        public = AnswersPublic(
            **context.public,
            task_id=task_id,
            task_runs=runs,
            effect=None if effect is None else attrs.asdict(effect),
            csrf=self._forms.csrf.token(incoming),
        )
        private = AnswersPrivate(**context.private, volunteers=task_details["volunteers"])
        return Page("project/task_answers.html", public, private)

    async def delete(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Deletes the answers of ``taskrun_ids``."""
        row = await self._projects.owned(short_name, incoming.who)
        effect = await self._changes.withdraw_answers(incoming.who, row["id"], task_id, _sent(incoming))
        words = ngettext("%(num)s answer was deleted.", "%(num)s answers were deleted.", effect.answers)
        return Redirect(_at(row, task_id), words, more={"effect": attrs.asdict(effect)})

    async def bar(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Bars the volunteers of the answers of ``taskrun_ids`` and sets their answers aside."""
        row = await self._projects.owned(short_name, incoming.who)
        task_details = await self._browsing.task(incoming.who, row, task_id, min(_sent(incoming), default=1) - 1)
        named = set(_sent(incoming))
        bars = {}
        for run in task_details["task_runs"]:
            if run["id"] in named:
                body = {"taskrun_id": run["id"], "set_aside": True}
                bar = await self._barring.bar(incoming.who, row["id"], body)
                bars[bar.id] = attrs.asdict(bar)
        words = ngettext("%(num)s volunteer is barred.", "%(num)s volunteers are barred.", len(bars))
        return Redirect(f"/project/{quote(row['short_name'])}/volunteers", words, more={"bars": list(bars.values())})


def _named(incoming: Incoming) -> list[int]:
    """The answers that an address names: ticked ones, or all on the page that it came from."""
    page = incoming.query.get("scope") == "page"
    return _numbers([incoming.query.get("page_ids", "")] if page else incoming.all_of("taskrun_ids"))


def _sent(incoming: Incoming) -> list[int]:
    """The answers of a posted form."""
    return _numbers([incoming.field("taskrun_ids")])


def _numbers(texts: list[str]) -> list[int]:
    words = (word for text in texts for word in numbers_in(text))
    ids = {int(word) for word in words if word.isascii() and word.isdigit() and len(word) < _DIGITS}
    return sorted(ids)[:MAX_ANSWERS]


def _at(row: ProjectPage, task_id: int) -> str:
    return f"/project/{quote(row['short_name'])}/tasks/{task_id}"
