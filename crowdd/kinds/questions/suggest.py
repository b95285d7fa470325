"""Where the suggested answer to a question comes from, as an option of the question (``suggest``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.kernel.languages import _
from crowdd.kinds.questions.options import COLUMN, Option, Problem, check_object, closed, number

HIDDEN_SHARE: Final = 0.1
"""The share of tasks that show no suggestion, unless a question says another one."""
MAX_MODEL: Final = 100  # characters of the name of a model
_SHARE: Final = number(0, 1)


def _check_model(value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_MODEL:
        yield Problem(path, _("Name a model, in 1 to %(max)s characters.", max=MAX_MODEL))


_MODEL: Final = Option(_check_model, {"type": "string", "minLength": 1, "maxLength": MAX_MODEL})
_FROM: Final = {"column": COLUMN, "model": _MODEL}
SUGGEST_KEYS: Final = frozenset({"column", "hidden_share"})
"""The keys of a suggestion from a column."""


def _check(value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, dict) or len(value.keys() & _FROM.keys()) != 1:
        yield Problem(path, _("Name a column of the tasks ({“column”: …}) or a model ({“model”: …})."))
        return
    yield from check_object(value, path, {**_FROM, "hidden_share": _SHARE})


SUGGEST: Final = Option(
    _check,
    {"oneOf": [closed({name: one.schema, "hidden_share": _SHARE.schema}, (name,)) for name, one in _FROM.items()]},
    control="suggest",
    limits={"share": HIDDEN_SHARE, "model": MAX_MODEL},
)
