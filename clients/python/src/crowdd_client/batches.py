"""Rows of an upload, cut into batches in the same way each time. Pure decisions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdd_client.task_rows import task_body
from crowdd_client.upload_report import Refused

MAX_BYTES = 4_000_000  # of a batch: servers take 10 MB unless their operator says otherwise


@dataclass
class Batch:
    """Consecutive rows: ``bodies`` of tasks with the number of their row, and rows that cannot be sent.

    ``digest`` tells these rows from others.
    """

    number: int
    first: int
    bodies: list[tuple[int, bytes]] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    size: int = 0

    @property
    def count(self) -> int:
        """How many rows it has."""
        return len(self.bodies) + len(self.refused)

    @property
    def last(self) -> int:
        """The number of its last row."""
        return self.first + self.count - 1

    @property
    def digest(self) -> str:
        """A digest of its rows."""
        made = hashlib.sha256()
        for row, body in self.bodies:
            made.update(b"%d %d " % (row, len(body)) + body)
        return made.hexdigest()

    def add(self, row: int, values: Mapping[str, Any], project_id: int, n_answers: int | None) -> None:
        """A row more."""
        try:
            body = task_body(values, project_id, n_answers)
        except ValueError as error:
            self.refused.append(Refused(row, str(error)))
        else:
            self.bodies.append((row, body))
            self.size += len(body) + 1


def batches(
    rows: Iterable[Mapping[str, Any]], project_id: int, n_answers: int | None, max_rows: int
) -> Iterator[Batch]:
    """The rows in order, at most so many in each batch."""
    batch = Batch(0, 0)
    for number, values in enumerate(rows):
        if batch.count >= max_rows or batch.size >= MAX_BYTES:
            yield batch
            batch = Batch(batch.number + 1, number)
        batch.add(number, values, project_id, n_answers)
    if batch.count:
        yield batch
