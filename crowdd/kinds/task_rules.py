"""Rules of owners, as data (``info.task_rules``): what becomes of a task when its answers meet some conditions.

The database follows them (definitions/trust/58_task_rules.sql). Conditions are over votes, agreement, confidence, and
what is known of the volunteers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json, JsonObject
from crowdd.kinds.questions.format import DRAFT
from crowdd.kinds.questions.options import closed, is_number
from crowdd.kinds.stopping import MAX_ANSWERS
from crowdd.kinds.types import Schema

TASK_RULES: Final = "task_rules"
"""The key of ``info``: a list of rules, or null."""
Rule: TypeAlias = JsonObject
Condition: TypeAlias = JsonObject
MAX_RULES: Final = 10
MAX_CONDITIONS: Final = 5
MAX_NAME: Final = 60  # characters
_MAX_CHOICE: Final = 200  # characters
MIN_SKILL, MAX_SKILL = 0.75, 0.95
"""Nobody new is taken to be right in more than 70 % of the cases, and nobody in more than 95 %."""
COUNTS: Final = ("answers", "votes", "in_a_row", "choices")
SHARES: Final = ("agreement", "confidence")
MEASURES: Final = (*COUNTS, *SHARES)
"""What a condition measures of the counted answers.

``votes``: for the choice, or for the most frequent one; ``in_a_row``: the latest ones for the choice, or for the same
one; ``choices``: how many different ones.
"""
OF_A_CHOICE: Final = ("votes", "in_a_row")
COMPLETE, MORE_ANSWERS, REVIEW = "complete", "more_answers", "review"
ACTIONS: Final = (COMPLETE, MORE_ANSWERS, REVIEW)
_CONDITION_KEYS: Final = frozenset({"measure", "choice", "skill", "min", "max"})
_RULE_KEYS: Final = frozenset({"name", "when", "then", "answers"})


def check_rules(value: object) -> list[Rule]:
    """The rules, [] for null. Raises InvalidValueError, which names the first one that is wrong."""
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > MAX_RULES:
        raise InvalidValueError(_("`info.task_rules` must be a list of at most %(max)s rules.", max=MAX_RULES))
    for number, rule in enumerate(value):
        if problem := _rule_problem(rule):
            raise _invalid(f"/{number}", problem)
    names = [rule["name"] for rule in value]
    if len({*names}) < len(names):
        raise _invalid("", _("Two rules have the same name."))
    for number, rule in enumerate(value):
        for nth, condition in enumerate(rule["when"]):
            if problem := _condition_problem(condition):
                raise _invalid(f"/{number}/when/{nth}", problem)
    return value


def _invalid(place: str, problem: str) -> InvalidValueError:
    return InvalidValueError(_("`info.task_rules%(place)s`: %(problem)s", place=place, problem=problem))


def _rule_problem(rule: object) -> str | None:
    if not isinstance(rule, dict):
        return _("This must be an object.")
    if problem := _unknown(rule, _RULE_KEYS):
        return problem
    name, when, then = rule.get("name"), rule.get("when"), rule.get("then")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or "\0" in name:
        return _("`name` must be a text of 1 to %(max)s characters.", max=MAX_NAME)
    if not isinstance(when, list) or not 1 <= len(when) <= MAX_CONDITIONS:
        return _("`when` must be a list of 1 to %(max)s conditions.", max=MAX_CONDITIONS)
    if then not in ACTIONS:
        return _("%(name)s must be one of %(choices)s.", name="then", choices=", ".join(ACTIONS))
    if then == MORE_ANSWERS and not _is_whole(rule.get("answers"), 1, MAX_ANSWERS):
        return _("`answers` must be a whole number from 1 to %(max)s.", max=MAX_ANSWERS)
    return None if then == MORE_ANSWERS or "answers" not in rule else _unknown(rule, _RULE_KEYS - {"answers"})


def _condition_problem(condition: object) -> str | None:
    if not isinstance(condition, dict):
        return _("This must be an object.")
    measure = condition.get("measure")
    if measure not in MEASURES:
        return _("%(name)s must be one of %(choices)s.", name="measure", choices=", ".join(MEASURES))
    keys = _CONDITION_KEYS - (set() if measure in OF_A_CHOICE else {"choice"})
    if problem := _unknown(condition, keys - ({"skill"} if measure == "confidence" else set())):
        return problem
    if not _is_choice(condition.get("choice")):
        return _(
            "`choice` must be a text of at most %(max)s characters, a number, true, false or null.",
            max=_MAX_CHOICE,
        )
    skill = condition.get("skill", MIN_SKILL)
    if not is_number(skill) or not MIN_SKILL <= skill <= MAX_SKILL:
        return _("`skill` must be a number from %(min)s to %(max)s.", min=MIN_SKILL, max=MAX_SKILL)
    return _bounds_problem(condition, shares=measure in SHARES)


def _bounds_problem(condition: Condition, *, shares: bool) -> str | None:
    bounds = [condition[name] for name in ("min", "max") if name in condition]
    fine = [is_number(one) and 0 <= one <= 1 if shares else _is_whole(one, 0, MAX_ANSWERS) for one in bounds]
    if not bounds or not all(fine):
        if shares:
            return _("`min` and `max` must be numbers from 0 to 1, and one of them must be there.")
        return _(
            "`min` and `max` must be whole numbers from 0 to %(max)s, and one of them must be there.", max=MAX_ANSWERS
        )
    low, high = bounds[0], bounds[-1]
    return _("`min` must not be larger than `max`.") if is_number(low) and is_number(high) and low > high else None


def _unknown(value: dict[str, object], known: Iterable[str]) -> str | None:
    name = next((name for name in value if name not in known), None)
    return None if name is None else _("“%(name)s” is not known here.", name=name[:100])


def _is_whole(value: object, minimum: int, maximum: int) -> bool:
    return type(value) is int and minimum <= value <= maximum


def _is_choice(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_CHOICE and "\0" not in value
    return value is None or isinstance(value, bool) or is_number(value)


def rules_of(info: dict[str, Json]) -> list[Rule]:
    """The rules of a project with this ``info``."""
    rules = info.get(TASK_RULES)
    return [rule for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []


def rules_schema() -> Schema:
    """The JSON Schema of ``info.task_rules``. It cannot say that names differ, and that ``min`` is at most ``max``."""
    skill: Schema = {"type": "number", "minimum": MIN_SKILL, "maximum": MAX_SKILL}
    choice: Schema = {"type": ["string", "number", "boolean", "null"], "maxLength": _MAX_CHOICE}
    count: Schema = {"type": "integer", "minimum": 0, "maximum": MAX_ANSWERS}
    share: Schema = {"type": "number", "minimum": 0, "maximum": 1}
    name: Schema = {"type": "string", "pattern": r"\S", "maxLength": MAX_NAME}
    when: Schema = {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_CONDITIONS,
        "items": {
            "oneOf": [
                _condition_schema(OF_A_CHOICE, count, choice=choice, skill=skill),
                _condition_schema([one for one in COUNTS if one not in OF_A_CHOICE], count, skill=skill),
                _condition_schema(["agreement"], share, skill=skill),
                _condition_schema(["confidence"], share),
            ]
        },
    }
    base: dict[str, Schema] = {"name": name, "when": when}
    more = {"then": {"const": MORE_ANSWERS}, "answers": {**count, "minimum": 1}}
    others: Schema = {"enum": [COMPLETE, REVIEW]}
    rules = [closed({**base, "then": others}, ("name", "when", "then")), closed(base | more, (*base, *more))]
    return {
        "$schema": DRAFT,
        "title": "Rules of a project (info.task_rules)",
        "type": "array",
        "maxItems": MAX_RULES,
        "items": {"oneOf": rules},
    }


def _condition_schema(measures: Iterable[str], bound: Schema, **more: Schema) -> Schema:
    properties: dict[str, Schema] = {"measure": {"enum": list(measures)}, **more, "min": bound, "max": bound}
    return {**closed(properties, ("measure",)), "anyOf": [{"required": ["min"]}, {"required": ["max"]}]}
