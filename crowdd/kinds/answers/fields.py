"""Answer fields: what stands where in the answers of a project. The first field decides about agreement.

``info.answers`` is a list of them. A list of questions declares its own (``from_questions``); an owner who writes a
presenter in HTML declares them on a page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final, TypeGuard

import attrs

from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.questions.options import BOOLEAN, Option, Problem, at, check_object, is_number, needed, number

ANSWERS: Final = "answers"
MAX_FIELDS: Final = 10
MAX_CHOICES: Final = 50
_MAX_NAME: Final = 100  # characters
_MAX_POINTER: Final = 500
_MAX_CHOICE: Final = 200
# RFC 6901, without what PostgreSQL would read as a place counted from the end of an array.
_POINTER: Final = re.compile(r"(/(?!-\d+(/|\Z))([^~/\0]|~[01])*)*")

Choice = str | float | bool | None
"""A value that a label can have."""


@attrs.frozen
class AnswerType:
    """A type of values. ``choices``: whether they may be listed, ``needs_choices``: whether they must be."""

    name: str
    doc: str
    choices: bool = False
    needs_choices: bool = False
    options: Mapping[str, Option] = attrs.field(factory=dict)


_TOLERANCE: Final = {"tolerance": number(0, 1e15)}
TYPES: Final[Mapping[str, AnswerType]] = {
    each.name: each
    for each in (
        AnswerType("label", "One of the choices: a text, a number, true, false or null.", choices=True),
        AnswerType("labels", "An array of choices, each once at most.", choices=True, needs_choices=True),
        AnswerType("number", "A number.", options={"min": number(), "max": number(), **_TOLERANCE}),
        AnswerType("text", "A text."),
        AnswerType("boxes", "An array of `{x, y, width, height, label?}`.", choices=True),
        AnswerType("points", "An array of `{x, y, label?}`.", choices=True, options=_TOLERANCE),
        AnswerType("polygon", "An array of `{x, y}`, the corners of one area."),
        AnswerType("spans", "An array of `{start, end, label?}`, in characters.", choices=True),
        AnswerType("date", "A date: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`."),
        AnswerType("ranking", "An array of all choices, the first one first.", choices=True, needs_choices=True),
        AnswerType("transcript", "An array of lines: `{text, x?, y?, width?, height?}`."),
        AnswerType("areas", "An array of `{points, label?}` or `{geometry, label?}`.", choices=True),
        AnswerType("lines", "An array of `{points, label?}`.", choices=True, options=_TOLERANCE),
        AnswerType("places", "An array of `{geometry, label?}`.", choices=True, options=_TOLERANCE),
    )
}


@attrs.frozen
class AnswerField:
    """Where a value stands in an answer (``path``: the parts of its JSON pointer), and what it is.

    ``choices`` are the classes of a label, the possible members of labels, or the labels of marks; None: any.
    ``unsure`` has the value that means "I can't tell", if there is one. For a label it is a choice like any other.
    ``nothing``: an empty array in place of the value means "nothing there". ``opinion``: no value is the right one, so
    that values are counted and never compared.
    """

    name: str
    path: tuple[str, ...]
    type: str
    choices: tuple[Choice, ...] | None = None
    unsure: tuple[Choice, ...] = ()
    nothing: bool = False
    opinion: bool = False
    min: float | None = None
    max: float | None = None
    tolerance: float | None = None


def parts(pointer: str) -> tuple[str, ...]:
    """The parts of a JSON pointer (RFC 6901, section 4)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def declared(info: Values) -> list[AnswerField]:
    """The answer fields of a project with this ``info``; [] if it declares none, or what is no list of them."""
    declaration = info.get(ANSWERS)
    if declaration is None or validate(declaration):
        return []
    return [read_declaration(field) for field in ([declaration] if isinstance(declaration, dict) else declaration)]


def read_declaration(field: Values) -> AnswerField:
    """A field as it is declared, which must be valid."""
    choices = field.get("choices")
    options = {name: field.get(name) for name in TYPES[field["type"]].options}
    return AnswerField(
        name=field["name"],
        path=parts(field["at"]),
        type=field["type"],
        choices=None if choices is None else tuple(choices),
        unsure=(field["unsure"],) if "unsure" in field else (),
        nothing=field.get("nothing") is True,
        opinion=field.get("opinion") is True,
        **options,
    )


# --------------------------------------------------------------------------------------------------------------- checks


def _check_name(value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= _MAX_NAME:
        yield Problem(path, _("A name has 1 to %(max)s characters.", max=_MAX_NAME))


def _check_pointer(value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, str) or len(value) > _MAX_POINTER or not _POINTER.fullmatch(value):
        yield Problem(path, _("This must be a JSON pointer into the answer, such as /answer or /boxes/0."))


def _check_type(value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, str) or value not in TYPES:
        yield Problem(path, _("The type must be one of %(types)s.", types=", ".join(TYPES)))


def is_choice(value: object) -> TypeGuard[Choice]:
    """Whether a value can be a choice: a text, a number, true, false or null."""
    return value is None or isinstance(value, bool) or is_number(value) or isinstance(value, str)


def _check_choice(value: object, path: str) -> Iterator[Problem]:
    if not is_choice(value) or (isinstance(value, str) and len(value) > _MAX_CHOICE):
        words = _("A choice is a text of at most %(max)s characters, a number, true, false or null.", max=_MAX_CHOICE)
        yield Problem(path, words)


def _check_choices(value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_CHOICES:
        yield Problem(path, _("List 1 to %(max)s choices.", max=MAX_CHOICES))
        return
    seen: set[tuple[type, object]] = set()
    for nth, choice in enumerate(value):
        wrong = list(_check_choice(choice, at(path, nth)))
        yield from wrong
        if not wrong and key(choice) in seen:
            yield Problem(at(path, nth), _("The choice “%(choice)s” is listed twice.", choice=str(choice)))
        elif not wrong:
            seen.add(key(choice))


def key(value: object) -> tuple[type, object]:
    """What JSON values have in common that are equal: 1 and 1.0 are, 1 and true are not."""
    return (float if is_number(value) else type(value), value)


def folded(text: str) -> str:
    """A text without differences of spaces at its ends, of the form of characters (NFC) and of case (Unicode).

    The same in definitions/tasks/26_answer_values.sql.
    """
    return unicodedata.normalize("NFC", text).strip().casefold()


_NAME: Final[dict[str, object]] = {"type": "string", "minLength": 1, "maxLength": _MAX_NAME}
_AT: Final[dict[str, object]] = {"type": "string", "maxLength": _MAX_POINTER}
_OPTIONS: Final = {
    "name": needed(Option(_check_name, _NAME)),
    "at": needed(Option(_check_pointer, _AT)),
    "type": needed(Option(_check_type, {"enum": list(TYPES)})),
    "unsure": Option(_check_choice, {"type": ["string", "number", "boolean", "null"]}),
    "nothing": BOOLEAN,
    "opinion": BOOLEAN,
}
_CHOICES: Final = Option(_check_choices, {"type": "array", "minItems": 1, "maxItems": MAX_CHOICES})


def validate(document: object) -> list[Problem]:
    """What is wrong with a list of answer fields, or with a single one; [] if nothing is."""
    if isinstance(document, dict):
        return list(_field_problems(document, ""))
    if not isinstance(document, list) or not 1 <= len(document) <= MAX_FIELDS:
        return [Problem("", _("List 1 to %(max)s answer fields.", max=MAX_FIELDS))]
    return [*_list_problems(document)]


def _list_problems(document: list[object]) -> Iterator[Problem]:
    names: set[str] = set()
    for nth, field in enumerate(document):
        yield from _field_problems(field, at("", nth))
        name = field.get("name") if isinstance(field, dict) else None
        if isinstance(name, str):
            if name in names:
                yield Problem(at("", nth, "name"), _("Two fields have the name “%(name)s”.", name=name[:_MAX_NAME]))
            names.add(name)


def _field_problems(field: object, path: str) -> Iterator[Problem]:
    field_type = TYPES.get(field.get("type", "")) if isinstance(field, dict) and _is_text(field.get("type")) else None
    options = dict(_OPTIONS)
    if field_type is None:
        others = {name for each in TYPES.values() for name in each.options} | {"choices"}
        options |= dict.fromkeys(others, Option(lambda value, path: iter(()), {}))
    else:
        options |= field_type.options
        if field_type.choices:
            options["choices"] = needed(_CHOICES) if field_type.needs_choices else _CHOICES
    yield from check_object(field, path, options)
    if isinstance(field, dict):
        yield from _range_problems(field, path)


def _range_problems(field: Values, path: str) -> Iterator[Problem]:
    first, last = field.get("min"), field.get("max")
    if is_number(first) and is_number(last) and first > last:
        yield Problem(at(path, "max"), _("The maximum is less than the minimum."))


def _is_text(value: object) -> bool:
    return isinstance(value, str)
