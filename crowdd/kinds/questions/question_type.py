"""What a type of question is, declared once: its options, its answer, and whether others may depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from crowdd.kinds.questions.options import BOOLEAN, HELP, TEXT, UNSURE, Option, Problem, needed
from crowdd.kinds.types import Schema
from crowdd.languages import _
from crowdd.values import Values

COMMON: Final[dict[str, Option]] = {
    "text": needed(TEXT).called(_("Question"), _("What volunteers read above their answer.")),
    "help": HELP.called(_("Help"), _("A hint below the question, with a picture if you like.")),
    "required": BOOLEAN.called(_("An answer is required"), _("The task cannot be sent without it.")),
    "unsure": UNSURE.called(_("Offer “I can’t tell”"), _("Volunteers who are not sure need not guess.")),
}
"""What each question has besides ``name``, ``type``, ``show_if``, and ``on`` and ``each`` where it has them."""
NOTHING: Final[dict[str, Option]] = {
    "nothing": UNSURE.called(
        _("Offer “Nothing there”"),
        _("Volunteers can say that what you ask for is not there."),
    ),
}
"""What a question has besides, if its answer is written or chosen; marks have it always."""
GROUPS: Final = {
    "choice": _("Choose"),
    "write": _("Write"),
    "picture": _("Mark in pictures"),
    "text": _("Mark in texts"),
    "recording": _("Mark in sounds and videos"),
    "map": _("Mark on maps"),
}
"""The groups of the catalogue of types, in their order."""


def _fine(question: Values, path: str) -> Iterator[Problem]:
    return iter(())


@attrs.frozen
class QuestionType:
    """A type of question.

    ``answer(question)`` is the JSON Schema of an answer that is not null. ``values(question)`` are the values that
    ``show_if`` may compare with: a list of them, a type of Python for any, None where nothing may depend on the type.
    ``media`` are the types of media that it is ``on``, none for a question of its own; ``module`` is the module of
    ``questions/types`` that shows it.
    """

    name: str
    doc: str
    options: dict[str, Option]
    answer: Callable[[Values], Schema]
    values: Callable[[Values], list[Any] | type | None] = lambda question: None
    check: Callable[[Values, str], Iterator[Problem]] = _fine
    choices: str = ""  # the option with the values of an answer, if there is one
    media: frozenset[str] = frozenset()
    needs_medium: bool = False
    each: bool = False  # whether marks have questions of their own
    answer_type: str = ""  # of an answer field (kinds.answers); "" where answers are not compared part by part
    single: tuple[str, str] | None = (
        None  # the same where an answer has one mark: type, and the key of the mark that has it
    )
    module: str = ""
    group: str = "choice"  # of GROUPS
    label: str = ""
    sentence: str = ""  # what volunteers do, for people who choose a type


@attrs.frozen
class MediaType:
    """A type of media: its options besides ``name``, ``type`` and ``description``."""

    name: str
    doc: str
    options: dict[str, Option]
    label: str = ""
    sentence: str = ""
