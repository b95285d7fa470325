"""What the command palette finds for a person: their projects, the project that they look at, and a task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs

from crowdd.errors import AnonymousError
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects import palette
from crowdd.storage.projects.list_rows import NumberedTask, OwnProject, ProjectName

MAX_PROJECTS: Final = 50
MAX_RECENT, MAX_WORDS, MAX_CHARACTERS = 8, 8, 200
_NUMBER: Final = re.compile(r"(?:.*[\s#])?([0-9]{1,18})")
"""A number at the end of what was typed: ``1234``, ``#1234``, ``task 1234``."""


@attrs.frozen
class Matches:
    """What was found; ``project`` is the one that the person looks at, if they may change it."""

    project: ProjectName | None
    projects: list[OwnProject]
    task: NumberedTask | None


class Palette:
    """Finds what a person can go to."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def find(self, who: Requester, text: str, here: str, recent: Sequence[str]) -> Matches:
        """Own projects with all words of ``text``, and the task whose number ends it.

        ``here`` is the short name of the project that the person looks at, or "". Projects of ``recent`` come first.
        Raises AnonymousError if nobody is signed in.
        """
        if who.acting_user is None:
            raise AnonymousError(_("Sign in first."))
        text = text[:MAX_CHARACTERS]
        number = _NUMBER.fullmatch(text.strip())
        words = text.split()[:MAX_WORDS]
        return Matches(
            await palette.project(self._db, who, here) if here else None,
            await palette.own(self._db, who, words, recent[:MAX_RECENT], MAX_PROJECTS),
            await palette.task(self._db, who, int(number[1])) if number else None,
        )
