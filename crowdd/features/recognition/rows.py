"""Types of the rows of recognition."""

from __future__ import annotations

from datetime import date, datetime
from typing import TypedDict

import attrs

from crowdd.features.accounts.rows import PersonRow
from crowdd.kernel.values import Json


class Given(TypedDict):
    """What a person gave in a project in a month. Of a project that they may not see, name and what follows are None.

    ``public``: everybody may see it. ``work`` is what it asks for: choose, write, mark or None. ``n_read`` answers were
    read, the first of them of the day ``since``.
    """

    project_id: int
    month: date
    answers: int
    seconds: float
    n_read: int
    since: date
    name: str | None
    short_name: str | None
    public: bool
    work: str | None
    papers: list[Json] | None


class BoardPlace(PersonRow):
    """Somebody on a leaderboard. ``seconds``: what their answers are worth."""

    rank: int
    answers: int
    seconds: float


class Choice(TypedDict):
    """Whether a person is on no leaderboard, because they wished it."""

    off_boards: bool


@attrs.frozen
class NewCertificate:
    """What a new certificate says. ``projects``: name, answers and seconds of those that everybody may see, as JSON."""

    name: str
    first_day: date
    last_day: date
    answers: int
    seconds: float
    n_projects: int
    projects: object


class Certificate(TypedDict):
    """A certificate as it was written down."""

    id: int
    key: str
    created: datetime
    name: str
    first_day: date
    last_day: date
    answers: int
    seconds: float
    n_projects: int
    projects: list[Json]
