"""What becomes of rows, counted by table: sums add up, and sentences say what differs and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from crowdd.storage.transfer.move_in.rows import Fate, Step
from crowdd.values import Values

ADDED: Final = "added"
_SHOWN: Final = 20  # ids of each sentence


class Refused(Exception):  # noqa: N818 - it is no error of the program, and never leaves the package
    """A row that cannot come over; the text says why."""


@attrs.frozen
class Converted:
    """A row as ours, and sentences about what was changed."""

    values: Values
    remarks: list[str]


def new_step(name: str) -> Step:
    """A table that was not begun."""
    return {"name": name, "upto": 0, "read": 0, "added": 0, "refused": 0, "remarks": {}, "ended": False}


def note(step: Step, sentence: str, ids: Iterable[int | str], *, refused: bool = False) -> None:
    """Counts rows that a sentence is about. The first ids are kept."""
    remark = step["remarks"].setdefault(sentence, {"rows": 0, "refused": refused, "first": []})
    for row_id in ids:
        remark["rows"] += 1
        if len(remark["first"]) < _SHOWN:
            remark["first"].append(row_id)


def note_fates(step: Step, fates: Iterable[Fate]) -> None:
    """Counts rows by what became of them."""
    for each in fates:
        if each.fate == ADDED:
            step["added"] += 1
        else:
            refuse(step, each.id, each.fate)


def refuse(step: Step, row_id: int, why: str) -> None:
    """Counts a row that was refused."""
    step["refused"] += 1
    note(step, why, [row_id], refused=True)
