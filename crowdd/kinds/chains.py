"""Rules of chains, as data: what a complete task of one project becomes in the next one.

``wanted_parts`` (crowdd/features/chains/parts.py) follows them. Each says of what a task is made, under which
conditions, and what the new task shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json, JsonObject, Values
from crowdd.kinds.questions.options import Problem, at, closed, is_number
from crowdd.kinds.types import Schema

IS, IS_NOT, AGREEMENT_BELOW = "is", "is_not", "agreement_below"
TESTS: Final = (IS, IS_NOT, AGREEMENT_BELOW)
MAX_CONDITIONS: Final = 5
MAX_VALUES: Final = 50
MAX_COLUMNS: Final = 50
MAX_ANSWERS: Final = 10_000  # of a task
MAX_NAME: Final = 200  # characters of a column, of an answer field, of a label and of a value
ITEM_COLUMNS: Final = ("x", "y", "width", "height", "label", "text", "start", "end", "points", "geometry")
"""Columns that a task made of an item has besides those that the rule names, if the item has them."""


@attrs.frozen
class Each:
    """One task for each item of the consensus at ``field``, or only for those with this ``label``."""

    field: str
    label: str | None = None


@attrs.frozen
class Condition:
    """``test`` is one of TESTS. ``values``: of ``is`` and ``is_not``, of which one is enough; ``below``: a share."""

    field: str
    test: str
    values: tuple[str | float | bool, ...] = ()
    below: float = 0.0


@attrs.frozen
class Crop:
    """The part of a picture in the column ``column`` of the source, as an address in the column ``to``."""

    column: str
    to: str


@attrs.frozen
class ChainRule:
    """What becomes of a complete task; without ``each`` it is one task. All conditions have to be met.

    ``columns`` and ``answers``: which column of the source, and the consensus at which answer field, is in which column
    of the new task. ``n_answers``: how many answers that gets; None: as many as the first task of its project.
    """

    each: Each | None = None
    when: tuple[Condition, ...] = ()
    columns: Mapping[str, str] = attrs.field(factory=dict)
    answers: Mapping[str, str] = attrs.field(factory=dict)
    crop: Crop | None = None
    n_answers: int | None = None

    def as_json(self) -> JsonObject:
        """As it is stored; ``read_rule`` reads it."""
        rule: JsonObject = {"columns": dict(self.columns), "answers": dict(self.answers)}
        if self.each is not None:
            rule["each"] = {"field": self.each.field}
            if self.each.label is not None:
                rule["each"] = {"field": self.each.field, "label": self.each.label}
        if self.when:
            rule["when"] = [_condition_json(one) for one in self.when]
        if self.crop is not None:
            rule["crop"] = {"column": self.crop.column, "to": self.crop.to}
        if self.n_answers is not None:
            rule["n_answers"] = self.n_answers
        return rule

    def fields(self) -> set[str]:
        """The answer fields that it looks at."""
        named = {one.field for one in self.when} | {*self.answers}
        return named if self.each is None else named | {self.each.field}


def _condition_json(one: Condition) -> Json:
    if one.test == AGREEMENT_BELOW:
        return {"field": one.field, one.test: one.below}
    return {"field": one.field, one.test: [*one.values]}


def read_rule(document: object) -> ChainRule:
    """The rule that a document is. Raises InvalidValueError with the path of what is wrong."""
    if problem := next(_problems(document), None):
        raise InvalidValueError(_("`rule%(place)s`: %(problem)s", place=problem.path, problem=problem.sentence))
    return stored_rule(document)


def stored_rule(rule: object) -> ChainRule:
    """The same of one that was checked."""
    assert isinstance(rule, dict)
    each, crop = rule.get("each"), rule.get("crop")
    return ChainRule(
        each=None if each is None else Each(**each),
        when=tuple(_condition(one) for one in rule.get("when") or ()),
        columns=rule.get("columns") or {},
        answers=rule.get("answers") or {},
        crop=None if crop is None else Crop(**crop),
        n_answers=rule.get("n_answers"),
    )


def _condition(one: Values) -> Condition:
    test = next(test for test in TESTS if test in one)
    if test == AGREEMENT_BELOW:
        return Condition(one["field"], test, below=one[test])
    return Condition(one["field"], test, tuple(one[test]))


_KEYS: Final = ("each", "when", "columns", "answers", "crop", "n_answers")


def _problems(rule: object) -> Iterator[Problem]:
    if not isinstance(rule, dict):
        yield Problem("", _("This must be an object."))
        return
    yield from _unknown(rule, "", _KEYS)
    if rule.get("each") is not None:
        yield from _named(rule["each"], at("", "each"), ("field",), ("label",))
    yield from _when_problems(rule.get("when"))
    for name in ("columns", "answers"):
        yield from _mapping_problems(rule.get(name), at("", name))
    if rule.get("crop") is not None:
        yield from _named(rule["crop"], at("", "crop"), ("column", "to"))
        if rule.get("each") is None:
            yield Problem(at("", "crop"), _("Only a part of a picture can be cut out: choose one task for each mark."))
    wanted = rule.get("n_answers")
    if wanted is not None and not (type(wanted) is int and 1 <= wanted <= MAX_ANSWERS):
        words = _("This must be a whole number from %(min)s to %(max)s.", min=1, max=MAX_ANSWERS)
        yield Problem(at("", "n_answers"), words)
    yield from _repeated(rule)


def _when_problems(when: object) -> Iterator[Problem]:
    if when is None:
        return
    if not isinstance(when, list) or len(when) > MAX_CONDITIONS:
        yield Problem(at("", "when"), _("List at most %(max)s conditions.", max=MAX_CONDITIONS))
        return
    for nth, one in enumerate(when):
        place = at("", "when", nth)
        tests = [test for test in TESTS if isinstance(one, dict) and test in one]
        if len(tests) != 1:
            words = _("A condition has `field` and one of %(names)s.", names=", ".join(TESTS))
            yield Problem(place, words)
            continue
        yield from _named({key: one[key] for key in one if key != tests[0]}, place, ("field",))
        yield from _test_problems(tests[0], one[tests[0]], at(place, tests[0]))


def _test_problems(test: str, value: object, place: str) -> Iterator[Problem]:
    if test == AGREEMENT_BELOW:
        if not is_number(value) or not 0 < value <= 1:
            yield Problem(place, _("This must be a number above 0, and at most 1."))
    elif not isinstance(value, list) or not 1 <= len(value) <= MAX_VALUES or not all(map(_is_value, value)):
        yield Problem(place, _("List 1 to %(max)s texts, numbers, true or false.", max=MAX_VALUES))


def _is_value(value: object) -> bool:
    return is_name(value) if isinstance(value, str) else isinstance(value, bool) or is_number(value)


def _mapping_problems(value: object, place: str) -> Iterator[Problem]:
    if value is None:
        return
    if not isinstance(value, dict) or len(value) > MAX_COLUMNS:
        yield Problem(place, _("This must be an object with at most %(max)s names.", max=MAX_COLUMNS))
        return
    for name, column in value.items():
        if not is_name(name) or not is_name(column):
            yield Problem(at(place, name[:MAX_NAME]), _name_words())


def _named(value: object, place: str, names: tuple[str, ...], optional: tuple[str, ...] = ()) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem(place, _("This must be an object."))
        return
    yield from _unknown(value, place, (*names, *optional))
    for name in names:
        if not is_name(value.get(name)):
            yield Problem(at(place, name), _name_words())
    for name in optional:
        if name in value and not is_name(value[name]):
            yield Problem(at(place, name), _name_words())


def _unknown(value: Values, place: str, known: tuple[str, ...]) -> Iterator[Problem]:
    for name in value:
        if name not in known:
            yield Problem(place, _("“%(name)s” is not known here.", name=name[:100]))


def _repeated(rule: Values) -> Iterator[Problem]:
    """Two things that would go into one column."""
    targets = [str(column) for name in ("columns", "answers") for column in dict(rule.get(name) or {}).values()]
    targets += [str(rule["crop"]["to"])] if rule.get("crop") else []
    targets += ITEM_COLUMNS if rule.get("each") else []
    for column in targets:
        if targets.count(column) > 1:
            yield Problem("", _("Two things would go into the column “%(name)s”.", name=column))
            return


def is_name(value: object) -> bool:
    """Whether a value can name a column, an answer field or a label, or be a value that is compared."""
    return isinstance(value, str) and 1 <= len(value) <= MAX_NAME and bool(value.strip()) and "\0" not in value


def _name_words() -> str:
    return _("This must be a text of 1 to %(max)s characters.", max=MAX_NAME)


def rule_schema() -> Schema:
    """The JSON Schema of a rule. It cannot say that two things would go into one column."""
    name: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_NAME}
    names: Schema = {"type": "object", "maxProperties": MAX_COLUMNS, "additionalProperties": name}
    value: Schema = {"type": ["string", "number", "boolean"], "maxLength": MAX_NAME}
    values: Schema = {"type": "array", "minItems": 1, "maxItems": MAX_VALUES, "items": value}
    share: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    tests: list[Schema] = [
        closed({"field": name, test: share if test == AGREEMENT_BELOW else values}, ("field", test)) for test in TESTS
    ]
    return closed(
        {
            "each": {"anyOf": [closed({"field": name, "label": name}, ("field",)), {"type": "null"}]},
            "when": {
                "anyOf": [
                    {"type": "array", "maxItems": MAX_CONDITIONS, "items": {"anyOf": tests}},
                    {"type": "null"},
                ]
            },
            "columns": {"anyOf": [names, {"type": "null"}]},
            "answers": {"anyOf": [names, {"type": "null"}]},
            "crop": {"anyOf": [closed({"column": name, "to": name}, ("column", "to")), {"type": "null"}]},
            "n_answers": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_ANSWERS}, {"type": "null"}]},
        }
    )
