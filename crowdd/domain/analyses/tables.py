"""What an analysis found as files for spreadsheets and statistics programs."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator, Sequence
from typing import Final

import attrs

from crowdd.domain.analyses.analyses import Analyses, TaskFinding
from crowdd.domain.core.csv_escape import cell
from crowdd.storage.analyses.rows import AnalysisRow
from crowdd.storage.core.keyset import Keyset
from crowdd.values import Json

CONTENT_TYPE: Final = "text/csv; charset=utf-8"
_AT_ONCE: Final = 1000  # rows of one statement
_VOLUNTEERS: Final = ("volunteer", "answers", "accuracy", "skill")


async def tasks(analyses: Analyses, row: AnalysisRow) -> AsyncGenerator[bytes, None]:
    """A line for each task: its most probable choice, how probable, and the probability of each choice."""
    choices = row["choices"] or []
    yield _line(["task_id", "value", "confidence", *(f"probability_{_name(one)}" for one in choices), "consensus"])
    place = Keyset(_AT_ONCE, descending=False)
    while True:
        page = await analyses.tasks(row, place)
        yield b"".join(_line(_cells(each)) for each in page.rows)
        if not page.next:
            return
        place = attrs.evolve(place, after=page.rows[-1]["task_id"])


async def volunteers(analyses: Analyses, row: AnalysisRow) -> AsyncGenerator[bytes, None]:
    """A line for each volunteer, the least accurate first."""
    yield _line(_VOLUNTEERS)
    place = Keyset(_AT_ONCE, "accuracy", descending=False)
    while True:
        page = await analyses.volunteers(row, place)
        lines = ([each["volunteer"], each["answers"], each["accuracy"], each["skill"]] for each in page.rows)
        yield b"".join(_line([cell(value) for value in line]) for line in lines)
        if not page.next:
            return
        place = attrs.evolve(place, after=page.rows[-1]["volunteer"])


def _cells(task: TaskFinding) -> list[str]:
    value = cell(task["value"]) if task["decided"] else ""
    return [str(task["task_id"]), value, *map(cell, [task["confidence"], *task["probabilities"], task["consensus"]])]


def _name(choice: Json) -> str:
    return "null" if choice is None else cell(choice, raw=True)


def _line(cells: Sequence[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue().encode()
