"""Read the files of two snapshots, and compare them row by row.

Both are in the order of ids, so that one pass with little memory will do.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Final, cast

import attrs
import orjson

from crowdd.features.snapshots.canonical_json import dumps, encode_line, parsed
from crowdd.features.snapshots.tables import IDENTIFIERS
from crowdd.features.snapshots.zip_stream import Inflating
from crowdd.kernel.values import Values

_READ_PIECE: Final = 1 << 18


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
            while part := file.read(_READ_PIECE):
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
            for each in (row.get("model") or {}).get("answers", ()):
                each["answer"] = each["answer"] and self._id("answer", each["answer"])
        if kind == "answer" and row["volunteer"] in self.withdrawn:
            row["volunteer"] = None
        return row, slow

    def _id(self, kind: str, number: int) -> int:
        return self.ids[kind][number - 1]


TABLES: Final = {"task": "tasks.ndjson", "answer": "answers.ndjson", "result": "results.ndjson"}
CHANGES: Final = ("added", "removed", "changed")
Change = Values
"""A line of the file: ``kind``, ``change`` (one of CHANGES), and what it was and is now."""
_NOTHING: Final = b"null"


@attrs.frozen
class _Row:
    id: int
    line: bytes


@attrs.frozen
class Comparison:
    """``before`` and ``after`` are snapshots of one project on one server: equal ids mean the same task or answer."""

    before: KeptSnapshot
    after: KeptSnapshot

    def changes(self, documents: tuple[Mapping[str, str], Mapping[str, str]]) -> Iterator[Change]:
        """All of them. ``documents``: the hashes of the documents before and after, by name."""
        yield from self._settings()
        yield from _of_documents(*documents)
        for kind in TABLES:
            yield from self._table(kind)

    def _settings(self) -> Iterator[Change]:
        before, after = (_flat(each.document("project.json")) for each in (self.before, self.after))
        for name in [*before, *(name for name in after if name not in before)]:
            values = [before.get(name), after.get(name)]
            if dumps(values[0]) != dumps(values[1]):
                yield {"kind": "setting", "change": "changed", "name": name, "values": values}

    def _table(self, kind: str) -> Iterator[Change]:
        before, after = self._rows(self.before, kind), self._rows(self.after, kind)
        old, new = next(before, None), next(after, None)
        equal = self._equal_beginning(kind)
        while old or new:
            if new is None or (old is not None and old.id < new.id):
                assert old is not None
                yield {"kind": kind, "change": "removed", "id": old.id, "row": self.before.row(kind, old.line)[0]}
                old = next(before, None)
            elif old is None or new.id < old.id:
                yield {"kind": kind, "change": "added", "id": new.id, "row": self.after.row(kind, new.line)[0]}
                new = next(after, None)
            else:
                if not (equal and old.line == new.line):
                    yield from self._changed(kind, old, new)
                old, new = next(before, None), next(after, None)

    def _changed(self, kind: str, old: _Row, new: _Row) -> Iterator[Change]:
        (before, old_slow), (after, new_slow) = self.before.row(kind, old.line), self.after.row(kind, new.line)
        if encode_line(before, old_slow) == encode_line(after, new_slow):
            return
        columns = {
            name: [before.get(name), after.get(name)]
            for name in {**before, **after}
            if _text(before, name) != _text(after, name)
        }
        yield {"kind": kind, "change": "changed", "id": old.id, "columns": columns}

    def _equal_beginning(self, kind: str) -> bool:
        """Whether equal lines say the same: the numbers in both are those of the same rows."""
        kinds = {"task": ("task",), "answer": ("task", "answer"), "result": ("task", "answer", "result")}[kind]
        return all(_one_begins_with_other(self.before.ids[each], self.after.ids[each]) for each in kinds)

    def _rows(self, snapshot: KeptSnapshot, kind: str) -> Iterator[_Row]:
        last = -1
        for id_, text in zip_longest(snapshot.ids[kind], snapshot.lines(TABLES[kind])):
            if id_ is None or text is None or id_ <= last:
                raise ValueError(f"{TABLES[kind]} does not have the rows of the identifiers.")
            last = id_
            yield _Row(id_, text)


def _one_begins_with_other(one: array[int], other: array[int]) -> bool:
    common = min(len(one), len(other))
    return one[:common] == other[:common]


def _text(row: Values, name: str) -> bytes:
    return dumps(row[name]) if name in row else _NOTHING


def _flat(value: Values, prefix: str = "") -> Values:
    """The values of an object by their names, those of objects in it as ``outer.inner``."""
    values_by_path: Values = {}
    for name, inner in value.items():
        path = f"{prefix}{name}"
        values_by_path |= _flat(inner, f"{path}.") if isinstance(inner, dict) and inner else {path: inner}
    return values_by_path


def _of_documents(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in sorted({*before, *after} - {"project.json"}):
        hashes = [before.get(name), after.get(name)]
        if hashes[0] != hashes[1]:
            change = "added" if hashes[0] is None else "removed" if hashes[1] is None else "changed"
            yield {"kind": "document", "change": change, "name": name, "sha256": hashes}
