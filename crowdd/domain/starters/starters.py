"""The presenters that a new project may begin with: whole files, which its owner then makes his own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from crowdd.errors import NotFoundError
from crowdd.languages import _

_FOLDER = Path(__file__).parent


@attrs.frozen
class Starter:
    """A presenter that works as it is.

    ``source`` is HTML for ``info.task_presenter``; it names no project and fits any. ``columns`` are the keys of
    a task's ``info`` that it shows, the first of them required. ``sample`` is the ``info`` of a task to try it with;
    ``answer`` is what an answer's ``info`` looks like. ``title`` and ``about`` are in English, to be translated.
    """

    name: str
    title: str
    about: str
    columns: tuple[str, ...]
    sample: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def source(self) -> str:
        """Its HTML."""
        return (_FOLDER / f"{self.name}.html").read_text("utf-8")


STARTERS: Final = (
    Starter(
        "picture",
        _("Picture with buttons"),
        _("One picture, one question, a button for each answer."),
        ("image", "title"),
        {"image": "/static/img/sample.svg", "title": "A sample"},
        {"answer": "yes"},
    ),
    Starter(
        "text",
        _("Text with a field"),
        _("A text to be read, one question, a field for the answer."),
        ("text", "title"),
        {"text": "Wind NNW, force 7. Heavy seas over the fore deck; took in the main sail.", "title": "A sample"},
        {"answer": "weather"},
    ),
)


def starter(name: str) -> Starter:
    """The starter of a name; NotFoundError when there is none."""
    for one in STARTERS:
        if one.name == name:
            return one
    raise NotFoundError("404 Not Found")
