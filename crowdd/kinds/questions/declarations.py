"""The declared types of questions and media as JSON, from which the builder makes its forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.questions.format import MAX_CONDITIONS, MAX_MEDIA, MAX_QUESTIONS, MAX_STEPS, RESERVED, VERSION
from crowdd.kinds.questions.options import DESCRIPTION, MAX_TEXT, PAGE_KEYS, TEXT, Option
from crowdd.kinds.questions.question_type import COMMON, GROUPS, MediaType, QuestionType
from crowdd.kinds.questions.types import MEDIA, TYPES

Say = Callable[[str], str]
"""Says a sentence in a language."""
TITLE: Final = TEXT.called(_("Heading"), _("Shown above the questions of the step."))
_LIMITS: Final = {
    "steps": MAX_STEPS,
    "questions": MAX_QUESTIONS,
    "media": MAX_MEDIA,
    "conditions": MAX_CONDITIONS,
    "text": MAX_TEXT,
}


def declarations(say: Say) -> Values:
    """``groups``, ``types``, ``media``, ``common`` (options of all questions), ``step``, ``limits`` and reserved words.

    An option has ``name``, ``label``, ``hint``, ``control``, ``needed``, ``limits`` and ``parts``.
    """
    return {
        "version": VERSION,
        "groups": [{"name": name, "label": say(words)} for name, words in GROUPS.items()],
        "types": [_type(kind, say) for kind in TYPES.values()],
        "media": [_medium(kind, say) for kind in MEDIA.values()],
        "common": _options(COMMON, say),
        "step": _options({"title": TITLE}, say),
        "limits": _LIMITS,
        "page_keys": sorted(PAGE_KEYS),
        "reserved": list(RESERVED),
    }


def _type(kind: QuestionType, say: Say) -> Values:
    return {
        "name": kind.name,
        "label": say(kind.label),
        "sentence": say(kind.sentence),
        "group": kind.group,
        "media": [name for name in MEDIA if name in kind.media],
        "needs_medium": kind.needs_medium,
        "each": kind.each,
        "compared": _compared(kind),
        "options": _options(kind.options, say),
    }


def _compared(kind: QuestionType) -> str:
    """What a condition compares an answer with: choices, yes_no, integer, number, or "" where it cannot."""
    answer_values = kind.values({"choices": []})
    if answer_values is None:
        return ""
    if isinstance(answer_values, list):
        return "choices" if kind.choices else "yes_no"
    return "integer" if answer_values is int else "number"


def _medium(kind: MediaType, say: Say) -> Values:
    options = {**kind.options, "description": DESCRIPTION}
    return {
        "name": kind.name,
        "label": say(kind.label),
        "sentence": say(kind.sentence),
        "options": _options(options, say),
    }


def _options(options: Mapping[str, Option], say: Say) -> list[Values]:
    return [_option(name, option, say) for name, option in options.items()]


def _option(name: str, option: Option, say: Say) -> Values:
    parts: list[Any] = _options(option.parts, say)
    return {
        "name": name,
        "label": say(option.label),
        "hint": say(option.hint) if option.hint else "",
        "control": option.control,
        "needed": option.needed,
        "limits": dict(option.limits),
        "parts": parts,
    }
