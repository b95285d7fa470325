"""Compares two snapshots row by row. Both are in the order of ids, so that one pass with little memory will do."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Final

import attrs

from crowdd.domain.transfer.snapshots.canonical import dumps, line
from crowdd.domain.transfer.snapshots.differences.kept_snapshot import KeptSnapshot
from crowdd.values import Values

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
        if line(before, old_slow) == line(after, new_slow):
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
