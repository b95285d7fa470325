"""The files of a snapshot as the process that compares two of them reads them: lines, numbers and ids."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import attrs
import orjson

from crowdd.domain.transfer.snapshots.canonical import parsed
from crowdd.domain.transfer.snapshots.columns import IDENTIFIERS
from crowdd.domain.transfer.snapshots.written_files import Inflating
from crowdd.values import Values

_PIECE: Final = 1 << 18


@attrs.define(eq=False)
class KeptSnapshot:
    """A folder with deflated files of a snapshot. ``withdrawn``: codes that are read as null."""

    folder: Path
    withdrawn: frozenset[str] = frozenset()
    ids: dict[str, array[int]] = attrs.field(init=False)

    @ids.default
    def _read_ids(self) -> dict[str, array[int]]:
        """The ids of tasks, answers and results; the number of a row is its place, from 1. 8 bytes each."""
        ids = {kind: array("q") for kind in ("task", "answer", "result")}
        for line in self.lines(IDENTIFIERS):
            row = orjson.loads(line)
            ids[row["kind"]].append(row["id"])
        return ids

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file. Raises ValueError for a damaged one."""
        inflating, rest = Inflating(), b""
        with (self.folder / name).open("rb") as file:
            while part := file.read(_PIECE):
                for piece in inflating.pieces(part):
                    *lines, rest = (rest + piece).split(b"\n")
                    yield from lines
        if rest:
            yield rest

    def document(self, name: str) -> Values:
        """A file with one JSON object; {} if there is none."""
        if not (self.folder / name).exists():
            return {}
        return cast(Values, parsed(b"\n".join(self.lines(name)))[0])

    def row(self, kind: str, line: bytes) -> tuple[Values, bool]:
        """A row with ids in the place of numbers, and as ``parsed`` says. It has no number of its own."""
        value, slow = parsed(line)
        row = cast(Values, value)
        del row[kind]
        if kind != "task":
            row["task"] = self._id("task", row["task"])
        if kind == "result":
            row["answers"] = [self._id("answer", number) for number in row["answers"]]
        if kind == "answer" and row["volunteer"] in self.withdrawn:
            row["volunteer"] = None
        return row, slow

    def _id(self, kind: str, number: int) -> int:
        return self.ids[kind][number - 1]
