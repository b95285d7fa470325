"""Rows of chains."""

from __future__ import annotations

from typing import TypedDict

import attrs

from crowdd.kernel.values import Json, JsonObject, Values


class NextStep(TypedDict):
    """A next step with its rule, for owners.

    ``made`` tasks were made, of ``changed`` ones the source says something else by now, and ``waiting`` complete tasks
    cannot be followed yet. ``failure``: why nothing goes on; None if it does. ``open_tasks`` need answers.
    """

    id: int
    name: str
    short_name: str
    open_tasks: int
    rule: JsonObject
    made: int
    changed: int
    waiting: int
    failure: str | None


class OwnProject(TypedDict):
    """A project of the requester that could be a next step."""

    id: int
    name: str


class Columns(TypedDict):
    """The columns of a task, and which columns are hidden from volunteers."""

    names: list[str]
    hidden: list[str] | None


class ChangedTask(TypedDict):
    """A task of the next step whose source says something else by now."""

    task_id: int
    source_task_id: int
    part: str


class SourceRow(TypedDict):
    """A task of the first project. ``complete`` is None for one that was deleted, whose other columns are None, too.

    ``said`` has an element for each of ``names``, as ``parts.Source`` says.
    """

    task_id: int
    complete: bool | None
    info: Json
    priority_0: float | None
    result_id: int | None
    names: list[str]
    said: list[Values | None]


class KnownPart(TypedDict):
    """A part that was made of a task, and its place: left, top, width and height."""

    source_task_id: int
    part: str
    place: list[float] | None


class ChangedSource(TypedDict):
    """A task with a change, and the position of the change."""

    task_id: int
    changed: int


@attrs.frozen
class Link:
    """A link that can be followed: changes before ``horizon`` are all there, those up to ``position`` were followed.

    ``n_answers``: how many the first task of the next project wants; None: it has none. ``failure`` as in NextStep.
    """

    project_id: int
    next_project_id: int
    rule: JsonObject
    position: int
    position_task: int
    horizon: int
    n_answers: int | None
    owner_id: int
    failure: str | None


@attrs.frozen
class Followed:
    """What became of tasks of the next step; ``marked`` had been answered."""

    made: int
    updated: int
    deleted: int
    marked: int
