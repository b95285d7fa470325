"""Rows of a move-in."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.values import Values


class Step(TypedDict):
    """How far a table is. ``remarks``: {sentence: {"rows", "refused", "first"}}."""

    name: str
    upto: int
    read: int
    added: int
    refused: int
    remarks: Values
    ended: bool


@attrs.frozen
class MoveIn:
    """The move-in of a site."""

    source: str
    began: datetime
    ended: datetime | None


@attrs.frozen
class Fate:
    """What became of a row: added, or why it was refused."""

    id: int
    fate: str


@attrs.frozen
class Found:
    """What is here that would be in the way."""

    accounts: int
    projects: int


@attrs.frozen
class ProjectFigure:
    """Tasks and answers of a project."""

    id: int
    tasks: int
    answers: int


@attrs.frozen
class UserFigure:
    """All answers of an account, and those that score."""

    id: int
    answers: int
    score: int


@attrs.frozen
class Completed:
    """The last task that was looked at, None at the end, and how many were completed."""

    last: int | None
    completed: int


@attrs.frozen
class NamedFile:
    """A file of a row: its key and its path below the folder of uploads."""

    id: int
    path: str
