"""The form of a rule of a chain: what it sends as a rule, and a rule as its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from crowdd.kernel.errors import FormError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json, JsonObject, parse_number
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.chains import AGREEMENT_BELOW, IS, ChainRule, read_rule

ROWS: Final = 3
"""So many conditions have a row in the form. Rules with more come by the API."""
ITEM_TYPES: Final = frozenset({"boxes", "points", "spans", "transcript", "areas", "lines", "places"})
"""Types of answer fields with several marks or lines, each of which can become a task."""
_PARTS: Final = ("field", "test", "value")
FIELDS: Final = (
    "next",
    "new_name",
    "each",
    "label",
    *(f"{part}_{nth}" for nth in range(1, ROWS + 1) for part in _PARTS),
    "columns",
    "answers",
    "crop_column",
    "crop_to",
    "n_answers",
)


def values_of(rule: ChainRule) -> dict[str, object]:
    """The fields of the form for a rule."""
    values: dict[str, object] = dict.fromkeys(FIELDS, "")
    if rule.each is not None:
        values |= {"each": rule.each.field, "label": rule.each.label or ""}
    for nth, one in enumerate(rule.when[:ROWS], 1):
        value = (
            f"{round(100 * one.below, 2):g}" if one.test == AGREEMENT_BELOW else ", ".join(map(_written, one.values))
        )
        values |= {f"field_{nth}": one.field, f"test_{nth}": one.test, f"value_{nth}": value}
    values |= {"columns": _lines(rule.columns), "answers": _lines(rule.answers)}
    if rule.crop is not None:
        values |= {"crop_column": rule.crop.column, "crop_to": rule.crop.to}
    if rule.n_answers is not None:
        values["n_answers"] = str(rule.n_answers)
    return values


def _written(value: object) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else f"{value}"


def _lines(names: Mapping[str, str]) -> str:
    return "\n".join(name if name == to else f"{name} = {to}" for name, to in names.items())


def parse_rule(form: Mapping[str, object], fields: Sequence[AnswerField]) -> ChainRule:
    """The rule of a form, for a project with these answer fields. Raises FormError."""
    wrong: dict[str, list[str]] = {}
    by_name = {field.name: field for field in fields}
    rule: JsonObject = {"columns": _names(form, "columns"), "answers": _names(form, "answers")}
    if each := _text(form, "each"):
        label = _text(form, "label")
        rule["each"] = {"field": each, "label": label} if label else {"field": each}
    when = [_condition(form, nth, by_name, wrong) for nth in range(1, ROWS + 1) if _text(form, f"field_{nth}")]
    if when:
        rule["when"] = when
    if column := _text(form, "crop_column"):
        rule["crop"] = {"column": column, "to": _text(form, "crop_to") or "crop"}
    if number := _text(form, "n_answers"):
        rule["n_answers"] = parse_number(number) or 0
    if not rule["columns"] and not rule["answers"] and not each:
        wrong["columns"] = [_("Say what the new tasks show.")]
    for name, to in _targets(rule):
        if name not in by_name:
            wrong[to] = [_("The project has no answer field “%(name)s”.", name=name[:100])]
    if wrong:
        raise FormError(wrong)
    try:
        return read_rule(rule)
    except InvalidValueError as error:
        raise FormError({"rule": [str(error)]}) from None


def _targets(rule: JsonObject) -> list[tuple[str, str]]:
    """The answer fields that a rule names, and the field of the form that says so."""
    each, answers = rule.get("each"), rule["answers"]
    named = [(str(each["field"]), "each")] if isinstance(each, dict) else []
    return named + [(name, "answers") for name in (answers if isinstance(answers, dict) else ())]


def _condition(
    form: Mapping[str, object], nth: int, by_name: Mapping[str, AnswerField], wrong: dict[str, list[str]]
) -> Json:
    field, test, value = (_text(form, f"{part}_{nth}") for part in _PARTS)
    if field not in by_name:
        wrong[f"field_{nth}"] = [_("The project has no answer field “%(name)s”.", name=field[:100])]
    if test == AGREEMENT_BELOW:
        try:
            share = float(value.replace(",", "."))
        except ValueError:
            share = 0
        if not 0 < share <= 100:
            wrong[f"value_{nth}"] = [_("Enter a number above 0, at most %(maximum)s.", maximum=100)]
        return {"field": field, test: round(share / 100, 4)}
    choices = {
        _written(one): one for one in (by_name[field].choices or () if field in by_name else ()) if one is not None
    }
    texts = [value] if value in choices else [text.strip() for text in value.split(",") if text.strip()]
    if not texts:
        wrong[f"value_{nth}"] = [_("Enter an answer, or several with commas between them.")]
    return {"field": field, test or IS: [choices.get(text, text) for text in texts]}


def _names(form: Mapping[str, object], name: str) -> JsonObject:
    """Lines such as ``old = new``, or ``same``."""
    names: JsonObject = {}
    for line in _text(form, name).splitlines():
        old, _sign, new = (part.strip() for part in line.partition("="))
        if old:
            names[old] = new or old
    return names


def _text(form: Mapping[str, object], name: str) -> str:
    return str(form.get(name) or "").strip()
