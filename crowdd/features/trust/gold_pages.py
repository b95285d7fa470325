"""Gold tasks of a project: the list, what volunteers get and hear of them, and making, changing and ending one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import attrs
import orjson

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import (
    ProjectContext,
    ProjectPrivate,
    ProjectPublic,
    ProjectViews,
    locked_out,
    none_ticked,
    numbers_in,
    ticked_tasks,
)
from crowdd.features.results.consensus import share_interval
from crowdd.features.trust.gold import Gold, GoldBody, GoldChangeBody, Overview
from crowdd.features.trust.gold_statements import GoldTask
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _, joined, ngettext
from crowdd.kernel.values import Json, Values, parse_number
from crowdd.kinds.answers import declared
from crowdd.kinds.gold_shares import GOLD_EMBARGO, GOLD_SHARES, check_embargo

_AT: Final = "/project/<short_name>/tasks/gold"
_FLAGS: Final = ("gold_feedback", "show_accuracy")


class GoldPublic(ProjectPublic, WithForm, Message):
    """``gold_tasks`` by the id of the task; ``overview``: their number, how many of each answer, who knows all."""

    gold_tasks: list[GoldTask]
    overview: Values
    csrf: str


class GoldPrivate(ProjectPrivate):
    """``usual_rate``: gold tasks in the long run if the project says nothing, in percent.

    ``intervals``: between which shares of right answers the true one of each gold task lies with 95 %.
    """

    usual_rate: int
    intervals: list[tuple[float, float]]


class GoldFormPublic(ProjectPublic, WithForm, Message):
    """``gold`` is the gold task that the form changes; ``choices``: values that the first answer field may have."""

    task_ids: list[int]
    gold: GoldTask | None
    choices: list[Json]
    csrf: str


class GoldPages:
    """``/project/<short_name>/tasks/gold`` and the pages below it."""

    def __init__(self, projects: Projects, gold: Gold, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._gold, self._forms, self._views = projects, gold, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.save))
        yield get(f"{_AT}/add", locked_out(self.form))
        yield post(f"{_AT}/add", locked_out(self.add))
        yield post(f"{_AT}/<int:task_id>/end", locked_out(self.end))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The gold tasks, and the settings."""
        row = await self._projects.owned(short_name, incoming.who)
        context = await self._views.context(incoming, row, _("Gold tasks"))
        return await self._page(incoming, context, row["id"], self._forms.filled(incoming, **_settings(row["info"])))

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Sets how often volunteers get gold tasks, in percent, and what they hear."""
        row = await self._projects.owned(short_name, incoming.who)
        info: Values = {name: incoming.flag(name, False) for name in _FLAGS}
        wrong = {}
        for name, share in GOLD_SHARES.items():
            text, maximum = incoming.field(name).strip(), round(share.maximum * 100)
            number = parse_number(text)
            if number is not None and number <= maximum:
                info[name] = number / 100
            else:
                wrong[name] = [_("Enter a whole number from 0 to %(maximum)s.", maximum=maximum)]
        info[GOLD_EMBARGO] = incoming.field(GOLD_EMBARGO).strip() or None
        try:
            check_embargo(info[GOLD_EMBARGO])
        except InvalidValueError:
            wrong[GOLD_EMBARGO] = [_("Enter a day.")]
        if wrong:
            form = self._forms.refused(incoming, wrong, *GOLD_SHARES, *_FLAGS, GOLD_EMBARGO)
            context = await self._views.context(incoming, row, _("Gold tasks"))
            return await self._page(incoming, context, row["id"], form, MISTAKES)
        await self._projects.tell(row, info, incoming.who)
        return Redirect(_at(short_name), _("The settings for gold tasks have been saved."))

    async def _page(
        self, incoming: Incoming, context: ProjectContext, project_id: int, form: Form, message: Message = NO_MESSAGE
    ) -> Response:
        listed = await self._gold.listed(incoming.who, project_id)
        overview = await self._gold.overview(incoming.who, project_id)
        public = GoldPublic(
            **context.public, **message, form=form, csrf=form["csrf"], gold_tasks=listed, overview=_shown(overview)
        )
        usual = round(100 * GOLD_SHARES["gold_rate"].default)
        intervals = [share_interval(one["n_right"], one["n_seen"]) for one in listed]
        return Page("project/gold.html", public, GoldPrivate(**context.private, usual_rate=usual, intervals=intervals))

    async def form(self, incoming: Incoming, short_name: str) -> Response:
        """The form for one task, its consensus filled in, or for several finished ones."""
        row = await self._projects.owned(short_name, incoming.who)
        if (back := none_ticked(incoming, short_name)) is not None:
            return back
        if not ticked_tasks(incoming):
            return Redirect(f"/project/{quote(short_name)}/tasks/browse", _("Select tasks first."), "error")
        task_ids = _numbers(ticked_tasks(incoming))
        gold = await self._gold.find(incoming.who, row["id"], task_ids[0]) if len(task_ids) == 1 else None
        answer = gold["answers"][0] if gold else None
        if gold is None and len(task_ids) == 1:
            answer = await self._gold.consensus(incoming.who, row["id"], task_ids[0])
        values = {"answer": None if answer is None else _text(answer), "message": gold["message"] if gold else None}
        context = await self._views.context(incoming, row, _("Gold task") if len(task_ids) == 1 else _("Gold tasks"))
        form = self._forms.filled(incoming, **values)
        return _form(context, task_ids, gold, _choices(row["info"]), form)

    async def add(self, incoming: Incoming, short_name: str) -> Response:
        """Makes tasks gold tasks, or changes the one that is. Without an answer, the consensus of each is right."""
        row = await self._projects.owned(short_name, incoming.who)
        task_ids = _numbers(numbers_in(incoming.field("task_ids")))
        if len(task_ids) != 1:
            made, left, warnings = await self._gold.make_many(incoming.who, row["id"], task_ids)
            return Redirect(_at(short_name), _made(made, left, warnings.keys))
        try:
            body = _body(incoming, task_ids[0])
            gold = await self._gold.find(incoming.who, row["id"], task_ids[0])
            if gold:
                change = GoldChangeBody.parse(body | {"rule": gold["rule"]})
                await self._gold.change(incoming.who, row["id"], change)
                return Redirect(_at(short_name), _("The gold task has been changed."))
            _gold, warnings = await self._gold.make(incoming.who, row["id"], GoldBody.parse(body))
        except InvalidValueError as error:
            form = self._forms.refused(incoming, {"answer": [error.args[0]]}, "answer", "message")
            context = await self._views.context(incoming, row, _("Gold task"))
            return _form(context, task_ids, None, _choices(row["info"]), form, MISTAKES)
        return Redirect(_at(short_name), _made(1, 0, warnings.keys))

    async def end(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._gold.end(incoming.who, row["id"], task_id)
        words = _("Task %(number)s is no longer a gold task.", number=task_id)
        return Redirect(_at(short_name), words)


def _form(
    context: ProjectContext,
    task_ids: list[int],
    gold: GoldTask | None,
    choices: list[Json],
    form: Form,
    message: Message = NO_MESSAGE,
) -> Response:
    public = GoldFormPublic(
        **context.public, **message, form=form, csrf=form["csrf"], task_ids=task_ids, gold=gold, choices=choices
    )
    private: ProjectPrivate = context.private
    return Page("project/gold_form.html", public, private)


def _settings(info: Values) -> Values:
    shares = {name: round(_number(info.get(name), share.default) * 100) for name, share in GOLD_SHARES.items()}
    return shares | {name: info.get(name) is True for name in _FLAGS} | {GOLD_EMBARGO: info.get(GOLD_EMBARGO)}


def _number(value: Json, default: float) -> float:
    return value if isinstance(value, int | float) else default


def _shown(overview: Overview) -> Values:
    values = [{"value": exact_json.stored(one["value"]), "n": one["n"]} for one in overview.values]
    return {**attrs.asdict(overview)["figures"], "values": values, "ordered": overview.ordered}


def _choices(info: Values) -> list[Json]:
    fields = declared(info)
    return list(fields[0].choices or ()) if fields and fields[0].type == "label" else []


def _body(incoming: Incoming, task_id: int) -> Values:
    body: Values = {"task_id": task_id, "message": incoming.field("message").strip() or None}
    if text := incoming.field("answer").strip():
        body["answer"] = _value(text)
    return body


def _value(text: str) -> Json:
    """An answer as a form sends it: JSON, or a text."""
    try:
        value: Json = exact_json.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value


def _text(value: Json) -> str:
    """The same as text, for a form."""
    return value if isinstance(value, str) and _value(value) == value else orjson.dumps(value).decode()


def _numbers(words: list[str]) -> list[int]:
    """Raises InvalidValueError."""
    numbers = [parse_number(word) for word in words]
    task_ids = {number for number in numbers if number is not None}
    if not words or None in numbers:
        raise InvalidValueError(_("Enter task numbers."))
    return sorted(task_ids)


def _made(made: int, left: int, keys: list[str]) -> str:
    words = ngettext("%(num)s task is a gold task now.", "%(num)s tasks are gold tasks now.", made)
    if left:
        out = ngettext(
            "%(num)s task was left out, because its answers do not agree or it is a gold task already.",
            "%(num)s tasks were left out, because their answers do not agree or they are gold tasks already.",
            left,
        )
        words = joined(words, out)
    if keys:
        known = _("Volunteers could recognize it: other tasks lack the columns %(keys)s.", keys=", ".join(keys[:5]))
        words = joined(words, known)
    return words


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name)}/tasks/gold"
