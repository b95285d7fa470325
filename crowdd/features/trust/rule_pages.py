"""The page of the rules of a project: what they say and did, one more, and what it would have done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote

import orjson

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.trust.rule_statements import RuleCount, RuleDecision
from crowdd.features.trust.task_rules import RuleReplay, RulesOverview, TaskRules, with_rule
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json
from crowdd.kinds.stopping import MAX_ANSWERS
from crowdd.kinds.task_rules import ACTIONS, COMPLETE, MEASURES, MORE_ANSWERS, OF_A_CHOICE, SHARES, Condition, Rule

_AT: Final = "/project/<short_name>/rules"
ROWS: Final = 3
"""So many conditions have a row in the form. Rules with more come by the API."""
_PARTS: Final = ("measure", "choice", "skill", "min", "max")
_FIELDS: Final = ("name", "then", "answers", *(f"{part}_{nth}" for nth in range(1, ROWS + 1) for part in _PARTS))


class RulesPublic(ProjectPublic, WithForm, Message):
    """``rules`` hold, as ``version`` of them; ``decided``: what they did. ``choices`` is None without a label.

    ``replay``: what the rules would have done with the one of the form, None before it was asked for.
    """

    version: int
    rules: list[Rule]
    decided: list[RuleCount]
    newest: list[RuleDecision]
    choices: list[Json] | None
    replay: RuleReplay | None


class RulesPrivate(ProjectPrivate):
    """``shown``: the choices as JSON texts, which the form sends, and as people read them."""

    rows: list[int]
    measures: tuple[str, ...]
    of_a_choice: tuple[str, ...]
    shares: tuple[str, ...]
    actions: tuple[str, ...]
    shown: list[tuple[str, str]]
    max_answers: int


class RulePages:
    """``/project/<short_name>/rules``."""

    def __init__(self, projects: Projects, rules: TaskRules, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._rules, self._forms, self._views = projects, rules, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.save))
        yield post(f"{_AT}/remove", locked_out(self.remove))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The rules, and a form for one more; ``edit`` names one that is in it."""
        row = await self._projects.owned(short_name, incoming.who)
        overview = await self._rules.overview(row["id"])
        edited = next((rule for rule in overview["rules"] if rule["name"] == incoming.query.get("edit")), None)
        return await self._page(incoming, row, self._forms.filled(incoming, **_values(edited)), overview=overview)

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Saves a rule, in place of the one with its name. ``btn`` = ``Effect`` shows what rules would have done."""
        row = await self._projects.owned(short_name, incoming.who)
        form = self._forms.refused(incoming, {}, *_FIELDS)
        try:
            rule = parse_rule(form)
            if incoming.field("btn") == "Effect":
                before = (await self._rules.overview(row["id"]))["rules"]
                replay = await self._rules.replay(row["id"], with_rule(before, rule))
                return await self._page(incoming, row, form, replay=replay)
            await self._rules.put(incoming.who, row["id"], rule)
        except FormError as error:
            return await self._page(incoming, row, form | {"errors": error.errors}, MISTAKES)
        except InvalidValueError as error:
            return await self._page(incoming, row, form | {"errors": {"name": [str(error)]}}, MISTAKES)
        return Redirect(
            f"/project/{quote(short_name)}/rules",
            _("The rule is saved. Open tasks follow it from their next answer on."),
        )

    async def remove(self, incoming: Incoming, short_name: str) -> Response:
        """Removes a rule; what it decided stays."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._rules.remove(incoming.who, row["id"], incoming.field("name") or "")
        return Redirect(f"/project/{quote(short_name)}/rules", _("The rule is removed."))

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        form: Form,
        message: Message = NO_MESSAGE,
        *,
        replay: RuleReplay | None = None,
        overview: RulesOverview | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row, _("Rules for tasks"))
        overview = overview or await self._rules.overview(row["id"])
        public = RulesPublic(
            **context.public,
            version=overview["version"],
            rules=overview["rules"],
            decided=overview["decided"],
            newest=await self._rules.newest(row["id"]),
            choices=overview["choices"],
            replay=replay,
            form=form,
            **message,
        )
        private = RulesPrivate(
            **context.private,
            rows=[*range(1, ROWS + 1)],
            measures=MEASURES,
            of_a_choice=OF_A_CHOICE,
            shares=SHARES,
            actions=ACTIONS,
            shown=[(orjson.dumps(choice).decode(), shown_choice(choice)) for choice in overview["choices"] or []],
            max_answers=MAX_ANSWERS,
        )
        return Page("project/rules.html", public, private)


def shown_choice(choice: Json) -> str:
    """A choice as people read it."""
    return choice if isinstance(choice, str) else orjson.dumps(choice).decode()


def _values(rule: Rule | None) -> dict[str, object]:
    """The form of a rule; of a new one for None."""
    values: dict[str, object] = dict.fromkeys(_FIELDS, "")
    values |= {"then": COMPLETE, "measure_1": "in_a_row"}
    if rule is None:
        return values
    values |= {"name": rule["name"], "then": rule["then"], "answers": rule.get("answers", "")}
    when = rule["when"]
    for nth, condition in enumerate(when if isinstance(when, list) else [], 1):
        if not isinstance(condition, dict):
            continue
        percent = 100 if condition["measure"] in SHARES else 1
        values[f"measure_{nth}"] = condition["measure"]
        values[f"choice_{nth}"] = orjson.dumps(condition["choice"]).decode() if "choice" in condition else ""
        values[f"skill_{nth}"] = _written(condition.get("skill"), 100)
        values[f"min_{nth}"] = _written(condition.get("min"), percent)
        values[f"max_{nth}"] = _written(condition.get("max"), percent)
    return values


def _written(value: Json, times: int) -> str:
    return f"{round(times * value, 2):g}" if isinstance(value, int | float) else ""


def parse_rule(form: Mapping[str, object]) -> Rule:
    """The rule of a form. Raises FormError; what its numbers may be is checked when it is saved."""
    wrong: dict[str, list[str]] = {}
    measures = {nth: _text(form, f"measure_{nth}") for nth in range(1, ROWS + 1)}
    when: list[Json] = [_condition(form, nth, measure, wrong) for nth, measure in measures.items() if measure]
    name, then = _text(form, "name"), _text(form, "then")
    rule: Rule = {"name": name, "when": when, "then": then}
    if not name:
        wrong["name"] = [_("Enter a name.")]
    if not when:
        wrong["measure_1"] = [_("Choose what the rule looks at.")]
    if then == MORE_ANSWERS:
        rule["answers"] = _number(form, "answers", 1, wrong)
        if rule["answers"] is None:
            wrong["answers"] = [_("Enter a number.")]
    if wrong:
        raise FormError(wrong)
    return rule


def _condition(form: Mapping[str, object], nth: int, measure: str, wrong: dict[str, list[str]]) -> Condition:
    condition: Condition = {"measure": measure}
    if measure in OF_A_CHOICE and (choice := _text(form, f"choice_{nth}")):
        try:
            condition["choice"] = orjson.loads(choice)
        except orjson.JSONDecodeError:
            wrong[f"choice_{nth}"] = [_("Choose an answer.")]
    if measure != "confidence" and (skill := _number(form, f"skill_{nth}", 100, wrong)) is not None:
        condition["skill"] = skill
    for bound in ("min", "max"):
        if (value := _number(form, f"{bound}_{nth}", 100 if measure in SHARES else 1, wrong)) is not None:
            condition[bound] = value
    if not {"min", "max"} & {*condition} and f"min_{nth}" not in wrong:
        wrong[f"min_{nth}"] = [_("Enter a number.")]
    return condition


def _number(form: Mapping[str, object], name: str, divisor: int, wrong: dict[str, list[str]]) -> float | None:
    text = _text(form, name).replace(",", ".")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 100:
        wrong[name] = [_("Enter a number from 0 to %(maximum)s.", maximum=100)]
        return None
    return int(value) if divisor == 1 and value.is_integer() else round(value / divisor, 4)


def _text(form: Mapping[str, object], name: str) -> str:
    return str(form.get(name) or "").strip()
