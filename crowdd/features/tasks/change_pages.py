"""The pages that change many tasks at once, and that delete selected answers or bar their volunteers.

Each page can first show what would happen (``preview``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol
from urllib.parse import quote

import attrs

from crowdd.database import schema
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import (
    ProjectPrivate,
    ProjectPublic,
    ProjectViews,
    all_matching,
    locked_out,
    none_ticked,
    numbers_in,
    ticked_tasks,
)
from crowdd.features.tasks import task_filters
from crowdd.features.tasks.barring import BarBody, Barring
from crowdd.features.tasks.change_bodies import (
    MAX_NOTE,
    ORDERS,
    OrderBody,
    PriorityBody,
    RedundancyBody,
    RetirementBody,
    SchedulerBody,
    TasksBody,
    WithdrawalBody,
)
from crowdd.features.tasks.changes import MAX_ANSWERS, Changes, Effect
from crowdd.features.tasks.list_statements import TaskFilter
from crowdd.features.tasks.rows import Predicted
from crowdd.features.tasks.task_filters import Matching
from crowdd.features.tasks.task_list import Browsing
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Handler, Route, get, post
from crowdd.kernel.errors import InvalidValueError, NotFoundError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values, parse_number
from crowdd.kinds.answers.words import worded_answer, words_of
from crowdd.kinds.body import Body
from crowdd.kinds.types import clean_text

_AT = "/project/<short_name>/tasks"


class Change(Protocol):
    """A change of ``Changes``; ``matching`` chooses tasks instead of ``task_ids``."""

    def __call__(
        self, who: Requester, project_id: int, body: Any, dry_run: bool, matching: TaskFilter | None = None
    ) -> Awaitable[Effect]:
        """What it does, or would do."""


@attrs.frozen
class ChangeForm:
    """One of the changes: its page, the fields of its form, and what carries it out."""

    name: str
    title: str
    fields: tuple[str, ...]
    body: type[Body]
    change: Callable[[Changes], Change]
    task_ids: str = "no"  # no, may, must: whether it names tasks


REDUNDANCY = ChangeForm(
    "redundancy", _("Answers per task"), ("n_answers",), RedundancyBody, lambda c: c.redundancy, "may"
)
PRIORITY = ChangeForm("priority", _("Task priority"), ("priority_0",), PriorityBody, lambda c: c.priority, "must")
ORDER = ChangeForm(
    "order",
    _("Order by usefulness"),
    ("by", "question", "model", "column", "share"),
    OrderBody,
    lambda c: _of_all(c.order),
)
SCHEDULER = ChangeForm("scheduler", _("Task order"), ("sched",), SchedulerBody, lambda c: _of_all(c.scheduler))
WITHDRAWAL = ChangeForm(
    "withdraw", _("Delete answers of a volunteer"), ("volunteer",), WithdrawalBody, lambda c: _of_all(c.withdraw)
)
RETIREMENT = ChangeForm("retire", _("Retire tasks"), ("note",), RetirementBody, lambda c: c.retire_tasks, "must")
REOPENING = ChangeForm("reopen", _("Reopen tasks"), (), TasksBody, lambda c: c.reopen_tasks, "must")
DELETION = ChangeForm("delete", _("Delete tasks"), (), TasksBody, lambda c: c.delete, "may")
_FORMS = (REDUNDANCY, PRIORITY, ORDER, SCHEDULER, WITHDRAWAL, RETIREMENT, REOPENING, DELETION)
_ORDER_NAMES = dict.fromkeys(ORDERS, ("question", "model")) | {"disagreement": ("question",), "column": ("column",)}
_OPTIONAL = frozenset({"note", "question", "model", "column"})
_MAX_SHOWN = 40  # characters of what was typed


class ChangePublic(ProjectPublic, WithForm, Message):
    """``effect`` is what the change would do, after a preview."""

    csrf: str
    effect: Values | None


class ChangePrivate(ProjectPrivate):
    """``schedulers`` are the names of those that can be chosen; ``predicted`` questions and models with predictions.

    ``matching`` chooses tasks instead of their numbers. ``wanted``: the answers that a draft asks for.
    """

    schedulers: list[str]
    predicted: Predicted
    matching: Matching | None
    wanted: dict[str, int] | None


class ChangePages:
    """``/project/<short_name>/tasks/`` with the name of a change."""

    def __init__(self, projects: Projects, changes: Changes, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._changes, self._forms, self._views = projects, changes, forms, views

    def routes(self) -> Iterator[Route]:
        for form in _FORMS:
            yield get(f"{_AT}/{form.name}", locked_out(self._shown(form)))
            yield post(f"{_AT}/{form.name}", locked_out(self._sent(form)))

    def _shown(self, form: ChangeForm) -> Handler:
        async def show(incoming: Incoming, short_name: str) -> Response:
            row = await self._projects.owned(short_name, incoming.who)
            if (back := none_ticked(incoming, short_name)) is not None:
                return back
            values = await self._values(incoming, form, row)
            if form.task_ids != "no":
                values["task_ids"] = ", ".join(ticked_tasks(incoming)) or None
            text = all_matching(incoming) if form.task_ids != "no" else ""
            matching = task_filters.parse_matching(text) if text else None
            return await self._page(incoming, row, form, self._forms.filled(incoming, **values), matching=matching)

        return show

    async def _values(self, incoming: Incoming, form: ChangeForm, row: ProjectPage) -> Values:
        """The first values of the form: the current state."""
        now: Values = dict.fromkeys(_names(form))
        if form is REDUNDANCY:
            now["n_answers"] = await self._changes.usual_answers(row["id"])
        elif form is ORDER:
            now |= {"by": "uncertain", "share": 0.1}
        elif form is SCHEDULER:
            now["sched"] = row["info"].get("sched") or "default"
        elif form is WITHDRAWAL:
            now["volunteer"] = clean_text(incoming.query.get("volunteer", ""))[:100] or None
        return now

    def _sent(self, form: ChangeForm) -> Handler:
        async def send(incoming: Incoming, short_name: str) -> Response:
            row = await self._projects.owned(short_name, incoming.who)
            text = incoming.field("matching") if form.task_ids != "no" else ""
            wrong, body = _read(incoming, form, row["short_name"], bool(text))
            dry_run = incoming.flag("preview", False)
            if dry_run:
                wrong.pop("short_name", None)  # to look costs nothing
            effect = None
            if not wrong:
                try:
                    chosen = task_filters.parse_task_filter(text) if text else None
                    change = form.change(self._changes)
                    effect = await change(incoming.who, row["id"], form.body.parse(body), dry_run, chosen)
                except InvalidValueError as error:
                    wrong = {_field_of(error, form, bool(text)): [error.args[0]]}
                except NotFoundError as error:
                    if form is not WITHDRAWAL:
                        raise
                    wrong = {"volunteer": [error.hint or error.args[0]]}
            if effect is not None and not dry_run:
                return _done(short_name, effect)
            return await self._answered(incoming, row, form, wrong, effect)

        return send

    async def _answered(
        self, incoming: Incoming, row: ProjectPage, form: ChangeForm, wrong: dict[str, list[str]], effect: Effect | None
    ) -> Response:
        again = self._forms.refused(incoming, wrong, *_names(form))
        text = incoming.field("matching")
        matching = task_filters.parse_matching(text) if text and form.task_ids != "no" else None
        return await self._page(incoming, row, form, again, MISTAKES if wrong else NO_MESSAGE, effect, matching)

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        form: ChangeForm,
        fields: Form,
        message: Message = NO_MESSAGE,
        effect: Effect | None = None,
        matching: Matching | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row, form.title)
        public = ChangePublic(
            **context.public,
            form=fields,
            csrf=fields["csrf"],
            effect=None if effect is None else attrs.asdict(effect),
            **message,
        )
        names = list(schema.list_schedulers()) if form is SCHEDULER else []
        wanted = await self._wanted(incoming, row, form)
        predicted = await self._changes.predicted(row["id"]) if form is ORDER else Predicted()
        private = ChangePrivate(
            **context.private, schedulers=names, predicted=predicted, matching=matching, wanted=wanted
        )
        return Page(f"project/task_{form.name}.html", public, private)

    async def _wanted(self, incoming: Incoming, row: ProjectPage, form: ChangeForm) -> dict[str, int] | None:
        """What the tasks of a draft ask for, in words on the step of its owner's way; programs have the tasks."""
        if form is not REDUNDANCY or row["first_published"] is not None or not row["n_tasks"] or incoming.wants_json:
            return None
        return await self._projects.answers_wanted(row, incoming.who)


def _names(form: ChangeForm) -> tuple[str, ...]:
    named = () if form.task_ids == "no" else ("task_ids",)
    return (*form.fields, *named, *(("short_name",) if form is DELETION else ()))


def _of_all(change: Callable[[Requester, int, Any, bool], Awaitable[Effect]]) -> Change:
    """A change for which tasks are not chosen."""

    def changed(
        who: Requester, project_id: int, body: Any, dry_run: bool, matching: TaskFilter | None = None
    ) -> Awaitable[Effect]:
        return change(who, project_id, body, dry_run)

    return changed


def _read(
    incoming: Incoming, form: ChangeForm, short_name: str, by_filter: bool
) -> tuple[dict[str, list[str]], Values]:
    """The mistakes of a form that was sent, and the body of its change. ``by_filter``: filters choose its tasks."""
    wrong: dict[str, list[str]] = {}
    body: Values = {}
    for name in form.fields:
        body[name] = incoming.field(name).strip()
        if not body[name] and name not in _OPTIONAL:
            wrong[name] = [_("Please fill this in.")]
    if form.task_ids != "no":
        body["task_ids"] = None if by_filter else _task_ids(incoming)
        if form.task_ids == "must" and not body["task_ids"] and not by_filter:
            wrong["task_ids"] = [_("Enter task numbers.")]
        typed = body["task_ids"] or []
        if other := next((each for each in typed if isinstance(each, str) and not _is_number(each)), None):
            wrong["task_ids"] = [_("“%(text)s” is not the number of a task.", text=other[:_MAX_SHOWN])]
    wrong |= {
        name: [_("Enter a number from 0 to 1.")]
        for name in ("priority_0", "share")
        if name in body and name not in wrong and not _is_share(body[name])
    }
    if form is ORDER and "by" not in wrong:
        wrong |= _nest_order(body)
    if form is DELETION and incoming.field("short_name").strip() != short_name:
        wrong["short_name"] = [_("Type the short name of the project exactly as shown.")]
    return wrong, body


def _nest_order(body: Values) -> dict[str, list[str]]:
    """Puts what a form says about an order where its body has it. The mistakes of the form."""
    names = {name: body.pop(name) for name in ("question", "model", "column")}
    if (by := body.pop("by")) not in ORDERS:
        return {"by": [_("%(name)s must be one of %(choices)s.", name="by", choices=", ".join(ORDERS))]}
    needed = {name: names[name] for name in _ORDER_NAMES[by]}
    body[by] = needed["column"] if by == "column" else needed
    return {name: [_("Please fill this in.")] for name, value in needed.items() if not value}


def _task_ids(incoming: Incoming) -> list[object] | None:
    """The tasks that a form names, separated by commas or spaces, or as an array; None if it names none."""
    task_ids = incoming.form.get("task_ids")
    if isinstance(task_ids, list):
        return task_ids or None
    return list(numbers_in(incoming.field("task_ids"))) or None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False


def _field_of(error: InvalidValueError, form: ChangeForm, by_filter: bool) -> str:
    """The field that an error names, or the one of the filters."""
    other = "task_ids" if by_filter else _names(form)[0]
    return next((name for name in _names(form) if f"`{name}" in error.args[0] or f".{name}" in error.args[0]), other)


def _done(short_name: str, effect: Effect) -> Redirect:
    more = {"effect": attrs.asdict(effect), "queue_item": effect.queue_item}
    if effect.queue_item is not None:
        words = _("The tasks are being changed in the background.")
        return Redirect(f"/project/{quote(short_name)}/queue", words, more=more)
    words = ngettext("%(num)s task was changed.", "%(num)s tasks were changed.", effect.tasks)
    return Redirect(f"/project/{quote(short_name)}/tasks/", words, more=more)


_ANSWERS_AT = "/project/<short_name>/tasks/<int:task_id>/answers"


class AnswersPublic(ProjectPublic):
    """``effect`` is what the action would do, None where volunteers are to be barred."""

    task_id: int
    task_runs: list[Values]
    effect: Values | None
    csrf: str


class AnswersPrivate(ProjectPrivate):
    """``action`` is delete, bar or aside; ``volunteers`` go by the id of the answer."""

    task_runs: list[Values]
    action: str
    volunteers: dict[int, Values]


class AnswerSelectionPages:
    """``/project/<short_name>/tasks/<task_id>/answers/`` and ``delete``, ``aside``, ``back`` or ``bar``."""

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
        yield get(f"{_ANSWERS_AT}/delete", locked_out(self.ask_to_delete))
        yield post(f"{_ANSWERS_AT}/delete", locked_out(self.delete))
        yield get(f"{_ANSWERS_AT}/aside", locked_out(self.ask_to_set_aside))
        yield post(f"{_ANSWERS_AT}/aside", locked_out(self.set_aside))
        yield post(f"{_ANSWERS_AT}/back", locked_out(self.count_again))
        yield get(f"{_ANSWERS_AT}/bar", locked_out(self.ask_to_bar))
        yield post(f"{_ANSWERS_AT}/bar", locked_out(self.bar))

    async def ask_to_delete(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Shows the answers that the address names, and what deleting them would do."""
        return await self._ask(incoming, short_name, task_id, _("Delete answers"), "delete")

    async def ask_to_set_aside(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Shows the answers that the address names, and what setting them aside would do."""
        return await self._ask(incoming, short_name, task_id, _("Set answers aside"), "aside")

    async def ask_to_bar(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Shows the answers that the address names, whose volunteers would be barred."""
        return await self._ask(incoming, short_name, task_id, _("Block volunteers"), "bar")

    async def _ask(self, incoming: Incoming, short_name: str, task_id: int, title: str, action: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        ids = _named(incoming)
        task_details = await self._browsing.task(incoming.who, row, task_id, min(ids, default=1) - 1)
        runs = [run for run in task_details["task_runs"] if run["id"] in ids]
        if not runs:
            return Redirect(_at(row, task_id), _("Select answers first."), "error")
        who, about = incoming.who, (row["id"], task_id, [run["id"] for run in runs])
        effect = None
        if action == "delete":
            effect = await self._changes.withdraw_answers(who, *about, dry_run=True)
        elif action == "aside":
            effect = await self._changes.set_answers_aside(who, *about, "", dry_run=True)
        context = await self._views.context(incoming, row, title)
        public = AnswersPublic(
            **context.public,
            task_id=task_id,
            task_runs=runs,
            effect=None if effect is None else attrs.asdict(effect),
            csrf=self._forms.csrf.token(incoming),
        )
        words = words_of(row["info"], locale_of(incoming))
        private = AnswersPrivate(
            **context.private,
            task_runs=[{**run, "info": worded_answer(run["info"], words)} for run in runs],
            action=action,
            volunteers=task_details["volunteers"],
        )
        return Page("project/task_answers.html", public, private)

    async def delete(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Deletes the answers of ``taskrun_ids``."""
        row = await self._projects.owned(short_name, incoming.who)
        effect = await self._changes.withdraw_answers(incoming.who, row["id"], task_id, _sent(incoming))
        words = ngettext("%(num)s answer was deleted.", "%(num)s answers were deleted.", effect.answers)
        return Redirect(_at(row, task_id), words, more={"effect": attrs.asdict(effect)})

    async def set_aside(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Sets the answers of ``taskrun_ids`` aside, for a ``reason``."""
        row = await self._projects.owned(short_name, incoming.who)
        reason = clean_text(incoming.field("reason")).strip()[:MAX_NOTE]
        effect = await self._changes.set_answers_aside(incoming.who, row["id"], task_id, _sent(incoming), reason)
        words = ngettext("%(num)s answer was set aside.", "%(num)s answers were set aside.", effect.answers)
        return Redirect(_at(row, task_id), words, more={"effect": attrs.asdict(effect)})

    async def count_again(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Has answers of ``taskrun_ids`` that were set aside alone count again, where a place is free."""
        row = await self._projects.owned(short_name, incoming.who)
        effect = await self._changes.take_answers_back(incoming.who, row["id"], task_id, _sent(incoming))
        words = ngettext("%(num)s answer was taken back.", "%(num)s answers were taken back.", effect.answers)
        return Redirect(_at(row, task_id), words, more={"effect": attrs.asdict(effect)})

    async def bar(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Bars the volunteers of the answers of ``taskrun_ids`` and sets their answers aside."""
        row = await self._projects.owned(short_name, incoming.who)
        task_details = await self._browsing.task(incoming.who, row, task_id, min(_sent(incoming), default=1) - 1)
        named = set(_sent(incoming))
        bars = {}
        for run in task_details["task_runs"]:
            if run["id"] in named:
                bar = await self._barring.bar(incoming.who, row["id"], BarBody(taskrun_id=run["id"]))
                bars[bar.id] = attrs.asdict(bar)
        words = ngettext("%(num)s volunteer is blocked.", "%(num)s volunteers are blocked.", len(bars))
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
    return sorted({number for word in words if (number := parse_number(word)) is not None})[:MAX_ANSWERS]


def _at(row: ProjectPage, task_id: int) -> str:
    return f"/project/{quote(row['short_name'])}/tasks/{task_id}"
