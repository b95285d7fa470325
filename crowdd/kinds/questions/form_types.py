"""Types of questions that are answered in a form, without a medium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answer_files import FILE_KINDS
from crowdd.kinds.questions.options import (
    BOOLEAN,
    DAY,
    TEXT,
    Problem,
    at,
    choices,
    closed,
    integer,
    is_day,
    is_number,
    needed,
    number,
    values_of,
)
from crowdd.kinds.questions.question_type import NOTHING, QuestionType
from crowdd.kinds.types import Schema

MAX_SHORT: Final = 500  # characters of a short text, unless it says less
MAX_LONG: Final = 10_000
RATING: Final = (1, 5)  # from, to
_MAX_STEPS: Final = 100  # of a scale


def _one_value(question: Values) -> Schema:
    return {"enum": values_of(question["choices"])}


def _some_values(question: Values) -> Schema:
    choice_values = values_of(question["choices"])
    first, last = question.get("min", 1), question.get("max", len(choice_values))
    return {"type": "array", "items": {"enum": choice_values}, "uniqueItems": True, "minItems": first, "maxItems": last}


def _rating(question: Values) -> Schema:
    first, last, step = question.get("min", RATING[0]), question.get("max", RATING[1]), question.get("step", 1)
    return {"type": "integer", "minimum": first, "maximum": last, "enum": [*range(first, last + 1, step)]}


def _number(question: Values) -> Schema:
    bounds = {"minimum": question.get("min"), "maximum": question.get("max")}
    kind = "integer" if question.get("whole") else "number"
    return {"type": kind, **{name: value for name, value in bounds.items() if value is not None}}


def _short(question: Values) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": question.get("max_length", MAX_SHORT)}


def _long(question: Values) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": question.get("max_length", MAX_LONG)}


def _date(question: Values) -> Schema:
    day: Schema = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
    less: Schema = {"type": "string", "pattern": "^[0-9]{4}(-(0[1-9]|1[0-2]))?$"}
    return {"anyOf": [day, less]} if question.get("partial") else day


def _ranking(question: Values) -> Schema:
    choice_values = values_of(question["choices"])
    size = len(choice_values)
    return {"type": "array", "items": {"enum": choice_values}, "uniqueItems": True, "minItems": size, "maxItems": size}


def _matrix(question: Values) -> Schema:
    rows, columns = values_of(question["rows"]), values_of(question["columns"])
    needs = tuple(rows) if question.get("required") else ()
    return closed({key: {"enum": columns} for key in rows}, needs) | {"minProperties": 1}


def questions_for_files(document: Values | None) -> list[str]:
    """The names of the questions of a valid list that ask for files."""
    steps: list[Values] = document["steps"] if document else []
    return [each["name"] for step in steps for each in step.get("questions", []) if each["type"] == "file"]


def _files(question: Values) -> Schema:
    wanted = [kind for kind in FILE_KINDS if question.get(kind)] or [*FILE_KINDS]
    file: Schema = {
        "type": "object",
        "properties": {"file": {"type": "string", "pattern": "^/answer-files/[0-9a-f]{40}$"}, "kind": {"enum": wanted}},
        "required": ["file", "kind"],
    }
    return {"type": "array", "items": file, "minItems": 1, "maxItems": question.get("max", 1)}


def _check_range(question: Values, path: str) -> Iterator[Problem]:
    first: Any = question.get("min")
    last: Any = question.get("max")
    if ((is_number(first) and is_number(last)) or (is_day(first) and is_day(last))) and first > last:
        yield Problem(at(path, "max"), _("The maximum is less than the minimum."))


def _check_some(question: Values, path: str) -> Iterator[Problem]:
    yield from _check_range(question, path)
    options = question.get("choices")
    for name in ("min", "max"):
        if isinstance(options, list) and type(question.get(name)) is int and question[name] > len(options):
            yield Problem(at(path, name), _("There are only %(n)s choices.", n=len(options)))


def _check_scale(question: Values, path: str) -> Iterator[Problem]:
    first, last, step = question.get("min", RATING[0]), question.get("max", RATING[1]), question.get("step", 1)
    if not all(type(value) is int for value in (first, last, step)) or step < 1:
        return
    if not first < last:
        yield Problem(at(path, "max"), _("The last value of a scale must be higher than the first."))
    elif (last - first) % step or (last - first) // step > _MAX_STEPS:
        yield Problem(
            path,
            _(
                "The steps must end exactly at the highest value. A scale may have at most %(max)s of them.",
                max=_MAX_STEPS,
            ),
        )


def _values(name: str) -> Any:
    return lambda question: values_of(question.get(name))


_KEYED: Final = needed(choices(2, keys=True))
_LENGTH: Final = integer(1, MAX_LONG)
_WHOLE: Final = integer(-1_000_000, 1_000_000)

FORM_TYPES: Final = (
    QuestionType(
        "single_choice",
        "One of several answers.",
        {"choices": _KEYED.called(_("Choices"), _("The answers to choose from."))},
        _one_value,
        values=_values("choices"),
        choices="choices",
        answer_type="label",
        label=_("Single choice"),
        sentence=_("Volunteers choose one of several answers, such as a label for a whole picture."),
    ),
    QuestionType(
        "multiple_choice",
        "Any number of several answers, or `min` to `max`.",
        {
            "choices": needed(choices(1, keys=True)).called(_("Choices"), _("The answers to choose from.")),
            "min": integer(1, 500).called(_("Fewest choices"), _("At least this many must be chosen, if any.")),
            "max": integer(1, 500).called(_("Most choices"), _("At most this many can be chosen.")),
            **NOTHING,
        },
        _some_values,
        values=_values("choices"),
        check=_check_some,
        choices="choices",
        answer_type="labels",
        label=_("Several choices"),
        sentence=_("Volunteers choose any number of answers."),
    ),
    QuestionType(
        "yes_no",
        "Yes or no.",
        {},
        lambda question: {"type": "boolean"},
        values=lambda question: [True, False],
        module="single_choice",
        answer_type="label",
        label=_("Yes or no"),
        sentence=_("Volunteers say yes or no."),
    ),
    QuestionType(
        "rating",
        "A whole number on a scale from `min` (1) to `max` (5), with words for its ends; `slider` shows a slider.",
        {
            "min": _WHOLE.called(_("Lowest value"), _("First value of the scale. Default: 1.")),
            "max": _WHOLE.called(_("Highest value"), _("Last value of the scale. Default: 5.")),
            "step": integer(1, 1_000_000).called(_("Step"), _("Difference between two values. Default: 1.")),
            "low": TEXT.called(_("Words for the lowest value"), _("Shown at the beginning of the scale.")),
            "high": TEXT.called(_("Words for the highest value"), _("Shown at the end of the scale.")),
            "slider": BOOLEAN.called(_("Show a slider"), _("Better than buttons for more than ten values.")),
        },
        _rating,
        values=lambda question: int,
        check=_check_scale,
        answer_type="number",
        label=_("Rating"),
        sentence=_("Volunteers choose a value on a scale."),
    ),
    QuestionType(
        "number",
        "A number, with `unit`; `whole` refuses fractions.",
        {
            "min": number().called(_("Smallest number"), _("Smaller numbers are refused.")),
            "max": number().called(_("Largest number"), _("Larger numbers are refused.")),
            "whole": BOOLEAN.called(_("Whole numbers only"), _("Fractions are refused.")),
            "unit": TEXT.called(_("Unit"), _("Shown behind the number, for example cm.")),
            **NOTHING,
        },
        _number,
        values=lambda question: float,
        check=_check_range,
        group="write",
        answer_type="number",
        label=_("A number"),
        sentence=_("Volunteers enter a number."),
    ),
    QuestionType(
        "short_text",
        "A text of one line.",
        {"max_length": integer(1, MAX_SHORT).called(_("Longest answer"), _("In characters. Default: 500.")), **NOTHING},
        _short,
        module="texts",
        group="write",
        answer_type="text",
        label=_("Short text"),
        sentence=_("Volunteers write one line."),
    ),
    QuestionType(
        "long_text",
        "A text of several lines.",
        {"max_length": _LENGTH.called(_("Longest answer"), _("In characters. Default: 10,000.")), **NOTHING},
        _long,
        module="texts",
        group="write",
        answer_type="text",
        label=_("Long text"),
        sentence=_("Volunteers write several lines."),
    ),
    QuestionType(
        "date",
        "A day, from `min` to `max`; `partial` accepts a month or a year alone.",
        {
            "min": DAY.called(_("Earliest day"), _("Earlier days are refused.")),
            "max": DAY.called(_("Latest day"), _("Later days are refused.")),
            "partial": BOOLEAN.called(
                _("Accept dates in part"), _("Volunteers may enter a month with its year, or a year alone.")
            ),
            **NOTHING,
        },
        _date,
        check=_check_range,
        group="write",
        answer_type="date",
        label=_("Date"),
        sentence=_("Volunteers enter a day."),
    ),
    QuestionType(
        "ranking",
        "All entries in an order.",
        {"choices": needed(choices(2)).called(_("Entries"), _("What is put into an order."))},
        _ranking,
        choices="choices",
        answer_type="ranking",
        label=_("Ranking"),
        sentence=_("Volunteers put entries into an order."),
    ),
    QuestionType(
        "matrix",
        "One of the columns for each row.",
        {
            "rows": needed(choices()).called(_("Rows"), _("Each row gets one answer.")),
            "columns": needed(choices(2)).called(_("Columns"), _("The answers to choose from in each row.")),
        },
        _matrix,
        choices="columns",
        answer_type="label",
        label=_("Matrix"),
        sentence=_("Volunteers choose a column for each row."),
    ),
    QuestionType(
        "file",
        "Pictures, sounds or videos, one or up to `max`: those of `picture`, `sound` and `video`, or of any kind.",
        {
            "picture": BOOLEAN.called(_("Photos"), _("On a phone, the camera opens.")),
            "sound": BOOLEAN.called(_("Sounds"), _("Recordings, for example of a voice.")),
            "video": BOOLEAN.called(_("Videos"), _("Without a choice, photos, sounds and videos are accepted.")),
            "max": integer(1, 20).called(_("Most files"), _("At most this many can be sent. Default: 1.")),
        },
        _files,
        whole=True,
        group="write",
        label=_("Photo, sound or video"),
        sentence=_("Volunteers take a photo, or choose a file."),
    ),
)
