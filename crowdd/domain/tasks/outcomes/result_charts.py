"""The map and the timeline of a project's results, where its tasks have a place or a date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from crowdd.domain.tasks.outcomes.result_axes import recognise
from crowdd.storage.database import Database
from crowdd.storage.tasks import result_charts, task_list
from crowdd.storage.tasks.outcomes.rows import BinnedAnswer, PlaceBin, TimeBin
from crowdd.values import Values


class ResultMap(TypedDict):
    """``columns`` are the keys of ``info`` that say where a task is."""

    columns: list[str]
    points: list[PlaceBin]


class Timeline(TypedDict):
    """``column`` is the key of ``info`` that says when."""

    column: str
    times: list[TimeBin]


class Charts(TypedDict):
    """Results of every ``step``-th task, ``tasks`` in all, by place and date.

    A ``group`` is the place of an answer in ``answers``. The next number stands for other answers, the one after it for
    tasks without a single most frequent answer.
    """

    step: int
    tasks: int
    answers: list[BinnedAnswer]
    map: ResultMap | None
    timeline: Timeline | None


async def charts_of(
    db: Database, project_id: int, examples: Sequence[Values], roles: Mapping[str, str], *, owns: bool
) -> Charts | None:
    """The charts of a project, None if these tasks of it have neither place nor date: then nothing is read."""
    axes = recognise((task["task_info"] for task in examples), roles)
    if axes.place is None and axes.date is None:
        return None
    ordinals = await task_list.ordinals(db, project_id)
    latitude, longitude = (axes.place.latitude, axes.place.longitude) if axes.place else ("", "")
    bins = await result_charts.bins(db, project_id, ordinals, latitude, longitude, axes.date or "", owns=owns)
    places, times = bins["places"], bins["times"]
    return Charts(
        step=bins["step"],
        tasks=bins["tasks"],
        answers=bins["answers"],
        map=ResultMap(columns=axes.place.columns, points=places) if axes.place and places else None,
        timeline=Timeline(column=axes.date, times=times) if axes.date and times else None,
    )
