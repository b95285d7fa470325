"""Reads a file of an import row by row: what each row becomes, which are refused, which stand there twice.

All of it waits for the disk: call it in a thread.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
import orjson

from crowdd.features.imports import exported_files
from crowdd.features.imports.files import Dialect, FileRow, read_rows
from crowdd.features.imports.import_rows import GOLD, MAX_KEY_CHARACTERS, TaskMaker, info_text, key_of
from crowdd.kernel.errors import InvalidValueError, TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answers import MarkLimit

CHUNK = 1500  # rows of one transaction, which takes less than a tenth of a second
CHUNK_BYTES = 2_000_000  # about so much of them in memory at once
_64_BITS = 2**64 - 1


@attrs.frozen
class Plan:
    """What an owner has chosen for a file. ``pseudonym`` and ``latest`` are for answers (``answer_of``), ``marks`` too.

    ``rows``: about how many there are. ``finds_twice``: tasks without a key that stand in the file before are left out;
    when tasks are added, the project has those before, where the database finds them.
    """

    kind: str
    dialect: Dialect
    uses: dict[str, str]
    key: str | None
    again: bool
    n_answers: int | None
    pseudonym: Callable[[int, str], str]
    latest: datetime
    marks: MarkLimit
    rows: int = 500
    finds_twice: bool = True


@attrs.define
class Chunk:
    """Some rows of a file. ``passed`` counts all of them, ``rows`` those that are not empty; ``size`` is about bytes.

    ``taken`` are tasks, answers or results, ``twice`` counts rows that stand in the file before, ``refused`` have line,
    reason and text, and ``seen`` are the keys of refused rows.
    """

    passed: int = 0
    rows: int = 0
    size: int = 0
    empty: int = 0
    twice: int = 0
    taken: list[Values] = attrs.field(factory=list)
    refused: list[Values] = attrs.field(factory=list)
    seen: list[str] = attrs.field(factory=list)


class DigestSet:
    """Digests of 64 bits, in 16 bytes each: a set of Python's takes 100."""

    def __init__(self, expected: int = 500) -> None:
        """The first one makes room for so many; more make room for themselves."""
        self._slots, self._mask, self._left = array("Q", [0]), 0, 0
        self._first = 1 << (2 * expected).bit_length()

    def add(self, digest: int) -> bool:
        """Whether it was not there yet."""
        if not self._left:
            self._grow()
        digest = digest or 1
        slots, mask = self._slots, self._mask
        at = digest & mask
        while stored_digest := slots[at]:
            if stored_digest == digest:
                return False
            at = (at + 1) & mask
        slots[at] = digest
        self._left -= 1
        return True

    def _grow(self) -> None:
        before = self._slots
        self._slots = array("Q", [0]) * max(2 * len(before), self._first)
        self._mask, self._left = len(self._slots) - 1, len(self._slots) // 2
        for digest in before:
            if digest:
                self.add(digest)


class RowReader:
    """Goes through a file once. Close it at the end."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self._plan, self._file = plan, path.open("rb")
        self._rows: Iterator[FileRow] = read_rows(plan.dialect, self._file)
        self._make = TaskMaker(plan.uses, plan.n_answers).made
        self._digests, self._keys = DigestSet(plan.rows), DigestSet()
        self._named = DigestSet()  # keys of all rows, refused ones too
        self._repeated: Counter[int] = Counter()  # of the digests of exported tasks that came more than once

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def skip(self, rows: int) -> None:
        """Passes over rows that were taken before.

        Which of the rows after them stand there twice is known by their keys only, and for results: others are found in
        the project.
        """
        for row in islice(self._rows, rows):
            if self._plan.key is not None or self._plan.kind == exported_files.RESULTS:
                self._read(row, Chunk())

    def next_chunk(self) -> Chunk:
        """The next rows, as many as one transaction should take; ``passed`` is 0 at the end."""
        chunk = Chunk()
        for row in islice(self._rows, CHUNK):
            self._read(row, chunk)
            if chunk.size > CHUNK_BYTES:
                break
        return chunk

    def _read(self, row: FileRow, chunk: Chunk) -> None:
        chunk.passed += 1
        if row.empty:
            chunk.empty += 1
            return
        chunk.rows += 1
        try:
            if row.values is None:
                raise InvalidValueError(row.error)
            made = self._made(row, row.values, chunk)
            if made is None:
                chunk.twice += 1
            else:
                chunk.taken.append(made)
        except (InvalidValueError, TooLargeError) as error:
            chunk.size += _size(row.values or {})
            chunk.refused.append(refusal(row, str(error)))
            self._note_key(row, chunk)

    def _made(self, row: FileRow, values: Values, chunk: Chunk) -> Values | None:
        """What a row becomes; None for one that stands in the file before."""
        if self._plan.kind == exported_files.TABLE:
            return self._task(values, chunk)
        made = self._of_export(values)
        chunk.size += _size(values)
        return None if made is None else {**made, "line": row.number}

    def _task(self, values: Values, chunk: Chunk) -> Values | None:
        plan = self._plan
        info, made, attribute_names = self._make(values)
        if GOLD in made:
            plan.marks.require_right(made[GOLD])
        text = info_text(info)
        chunk.size += len(text)
        task = {**made, "info": orjson.Fragment(text)}
        if plan.key is not None:
            return self._keyed({**task, "given": attribute_names}, text, key_of(info, plan.key))
        if plan.again or not plan.finds_twice or self._digests.add(hash(text) & _64_BITS):
            return task
        return None

    def _of_export(self, values: Values) -> Values | None:
        plan = self._plan
        if plan.kind == exported_files.ANSWERS:
            answer = exported_files.answer_of(values, plan.pseudonym, plan.latest)
            plan.marks.require(answer["info"])
            return answer if self._digests.add(digest_of([answer["source"], answer["run"]])) else None
        if plan.kind == exported_files.RESULTS:
            return self._result(exported_files.result_of(values))
        return self._exported(exported_files.task_of(values))

    def _exported(self, task: dict[str, object]) -> dict[str, Any] | None:
        digest = digest_of(task["info"])
        first = self._digests.add(digest)
        if task["original"] is None:
            return task if first or self._plan.again else None
        if not self._keys.add(digest_of([task["source"], task["original"]])):
            return None
        if not first:
            self._repeated[digest] += 1
        return {**task, "nth": self._repeated[digest]}

    def _result(self, result: dict[str, object]) -> dict[str, Any] | None:
        if not self._digests.add(digest_of([result["source"], result["task"], result["result"], result["info"]])):
            return None
        if result["last"] and not self._keys.add(digest_of([result["source"], result["task"]])):
            raise InvalidValueError(_("A row above it is the result of the same task."))
        return result

    def _keyed(self, task: Values, text: bytes, key: str) -> Values | None:
        digest = digest_of([text.decode(), task["given"], task["n_answers"]])
        if self._keys.add(digest_of(key)):
            self._digests.add(digest)
            return {**task, "key": key, "named_above": not self._named.add(digest_of(key))}
        if self._digests.add(digest):
            raise InvalidValueError(_("A row above it has the same key and other values: %(key)s", key=key[:100]))
        return None

    def _note_key(self, row: FileRow, chunk: Chunk) -> None:
        """The task of a refused row is not gone from the file."""
        name, values = self._plan.key, row.values or {}
        if name is not None and isinstance(values.get(name), str | int) and values[name] != "":
            key = str(values[name])[:MAX_KEY_CHARACTERS]
            if self._named.add(digest_of(key)):
                chunk.seen.append(key)


def _size(values: Values) -> int:
    """About how many characters there are."""
    try:
        return len("".join(values.values()))
    except TypeError:
        return sum(len(str(value)) for value in values.values())


def digest_of(value: object) -> int:
    """A digest of a JSON value, whatever the order of its keys."""
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def refusal(row: FileRow, reason: str) -> dict[str, Any]:
    """A refused row as it is kept: line, reason, how it begins."""
    text = row.text or ", ".join(str(value)[:100] for value in (row.values or {}).values())[:200]
    return {"line": row.number, "reason": reason[:500], "text": printable(text)}


def printable(text: str, maximum: int = 200) -> str:
    """A text that can be stored and shown, its beginning."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:maximum])
