"""Rules of chains, as data: what a complete task of one project becomes in the next one.

``wanted_parts`` (crowdd/features/chains/parts.py) follows them. Each says of what a task is made, under which
conditions, and what the new task shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json, JsonObject, Values
from crowdd.kinds.questions.options import Option, Problem, Problems, at, integer, is_number, number, object_schema
from crowdd.kinds.types import Json as AnyJson
from crowdd.kinds.types import Schema, Text, Type, require_object

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
        raise InvalidValueError(_wrong(problem.path, problem.sentence))
    rule = stored_rule(document)
    if column := _repeated(rule):
        words = _("Two things would go into the column “%(name)s”.", name=column)
        raise InvalidValueError(_wrong("", words), code="repeated_column")
    return rule


def _wrong(place: str, sentence: str) -> str:
    return _("`rule%(place)s`: %(problem)s", place=place, problem=sentence)


def stored_rule(rule: object) -> ChainRule:
    """The same of one that was checked."""
    assert isinstance(rule, dict)
    each, crop, n_answers = rule.get("each"), rule.get("crop"), rule.get("n_answers")
    return ChainRule(
        each=None if each is None else Each(**each),
        when=tuple(_condition(one) for one in rule.get("when") or ()),
        columns=rule.get("columns") or {},
        answers=rule.get("answers") or {},
        crop=None if crop is None else Crop(**crop),
        n_answers=None if n_answers is None else int(n_answers),
    )


def _condition(one: Values) -> Condition:
    test = next(test for test in TESTS if test in one)
    if test == AGREEMENT_BELOW:
        return Condition(one["field"], test, below=one[test])
    return Condition(one["field"], test, tuple(one[test]))


def is_name(value: object) -> bool:
    """Whether a value can name a column, an answer field or a label, or be a value that is compared."""
    return isinstance(value, str) and 1 <= len(value) <= MAX_NAME and bool(value.strip()) and "\0" not in value


# What a rule may hold: each part once, as its check and its schema.


def _object(options: dict[str, Option]) -> Option:
    def check(value: object, path: str) -> Problems:
        if not isinstance(value, dict):
            yield Problem(path, _("This must be an object."))
            return
        for name in value:
            if name not in options:
                yield Problem(path, _("“%(name)s” is not known here.", name=name[:100]))
        for name, option in options.items():
            if name in value or option.needed:
                yield from option.check(value.get(name), at(path, name))

    return Option(check, object_schema(options))


def _or_null(option: Option) -> Option:
    def check(value: object, path: str) -> Problems:
        return iter(()) if value is None else option.check(value, path)

    return Option(check, {"anyOf": [option.schema, {"type": "null"}]})


def _check_name(value: object, path: str) -> Problems:
    if not is_name(value):
        yield Problem(path, _("This must be a text of 1 to %(max)s characters.", max=MAX_NAME))


_NAME: Final = Option(_check_name, Text(minimum=1, maximum=MAX_NAME).schema(), needed=True)


def _check_mapping(value: object, path: str) -> Problems:
    if not isinstance(value, dict) or len(value) > MAX_COLUMNS:
        yield Problem(path, _("This must be an object with at most %(max)s names.", max=MAX_COLUMNS))
        return
    for name, column in value.items():
        for one in (name, column):
            yield from _check_name(one, at(path, name[:MAX_NAME]))


_MAPPING: Final = Option(
    _check_mapping,
    {
        "type": "object",
        "maxProperties": MAX_COLUMNS,
        "propertyNames": _NAME.schema,
        "additionalProperties": _NAME.schema,
    },
)


def _check_share(value: object, path: str) -> Problems:
    if not is_number(value) or not 0 < value <= 1:
        yield Problem(path, _("This must be a number above 0, and at most 1."))


def _check_values(value: object, path: str) -> Problems:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_VALUES or not all(map(_is_value, value)):
        yield Problem(path, _("List 1 to %(max)s texts, numbers, true or false.", max=MAX_VALUES))


def _is_value(value: object) -> bool:
    return isinstance(value, bool) or is_name(value) or not any(_NUMBER.check(value, ""))


_NUMBER: Final = number()
_SHARE: Final = Option(_check_share, {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, needed=True)
_VALUES: Final = Option(
    _check_values,
    {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_VALUES,
        "items": {"anyOf": [_NAME.schema, _NUMBER.schema, {"type": "boolean"}]},
    },
    needed=True,
)
_CONDITIONS: Final = {
    test: _object({"field": _NAME, test: _SHARE if test == AGREEMENT_BELOW else _VALUES}) for test in TESTS
}


def _check_when(value: object, path: str) -> Problems:
    if not isinstance(value, list) or len(value) > MAX_CONDITIONS:
        yield Problem(path, _("List at most %(max)s conditions.", max=MAX_CONDITIONS))
        return
    for nth, one in enumerate(value):
        tests = [test for test in TESTS if isinstance(one, dict) and test in one]
        if len(tests) == 1:
            yield from _CONDITIONS[tests[0]].check(one, at(path, nth))
        else:
            words = _("A condition has `field` and one of %(names)s.", names=", ".join(TESTS))
            yield Problem(at(path, nth), words)


_WHEN: Final = Option(
    _check_when,
    {
        "type": "array",
        "maxItems": MAX_CONDITIONS,
        "items": {"anyOf": [condition.schema for condition in _CONDITIONS.values()]},
    },
)
_COUNT: Final = integer(1, MAX_ANSWERS)


def _check_count(value: object, path: str) -> Problems:
    """3.0 is a whole number, too."""
    return _COUNT.check(int(value) if is_number(value) and value == int(value) else value, path)


_RULE: Final = _object(
    {
        "each": _or_null(_object({"field": _NAME, "label": attrs.evolve(_NAME, needed=False)})),
        "when": _or_null(_WHEN),
        "columns": _or_null(_MAPPING),
        "answers": _or_null(_MAPPING),
        "crop": _or_null(_object({"column": _NAME, "to": _NAME})),
        "n_answers": _or_null(attrs.evolve(_COUNT, check=_check_count)),
    }
)
_CROP_NEEDS_EACH: Final[Schema] = {
    "anyOf": [
        {"required": ["each"], "properties": {"each": {"type": "object"}}},
        {"properties": {"crop": {"type": "null"}}},
    ]
}


def _problems(rule: object) -> Problems:
    yield from _RULE.check(rule, "")
    assert isinstance(rule, dict)
    if rule.get("crop") is not None and rule.get("each") is None:
        yield Problem(at("", "crop"), _("Only a part of a picture can be cut out: choose one task for each mark."))


def _repeated(rule: ChainRule) -> str | None:
    """A column into which two things would go."""
    targets = [*rule.columns.values(), *rule.answers.values()]
    targets += [rule.crop.to] if rule.crop else []
    targets += ITEM_COLUMNS if rule.each else []
    return next((column for column in targets if targets.count(column) > 1), None)


@attrs.frozen
class RuleType(Type):
    """A rule in a body. Its schema cannot say that two things would go into one column."""

    def parse_at(self, value: object, place: str) -> ChainRule:
        return read_rule(AnyJson().parse_at(require_object(value, place), place))

    def schema(self) -> Schema:
        return {**_RULE.schema, **_CROP_NEEDS_EACH}
