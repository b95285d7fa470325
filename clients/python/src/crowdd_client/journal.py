"""The state of an upload in a file, so that it can continue: lines of JSON, for each batch that begins or ends."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from crowdd_client.batches import Batch
from crowdd_client.errors import ResumeError
from crowdd_client.upload_report import Refused, UploadReport

KEPT_SECONDS = 23 * 3600.0
"""A server knows the key of a request for 24 hours."""


class Journal:
    """What is known of an upload; with a ``path`` also to those who continue it.

    ``about`` says which upload it is: a file of another one is refused. ``run`` makes the keys of its requests.
    """

    def __init__(self, path: Path | None, about: Mapping[str, object]) -> None:
        self._path, self.run = path, uuid4().hex
        self._begun: dict[int, tuple[str, float]] = {}
        self._ended: dict[int, tuple[str, UploadReport]] = {}
        if path is not None:
            self._load(path, dict(about))

    @property
    def batches(self) -> int:
        """How many batches have begun."""
        return len(self._begun)

    def outcome(self, batch: Batch) -> UploadReport | None:
        """What became of a batch; None for one that has not ended. Raises ResumeError if it had other rows."""
        digest, report = self._ended.get(batch.number, ("", None))
        digest = digest or self._begun.get(batch.number, (batch.digest, 0.0))[0]
        if digest != batch.digest:
            raise ResumeError(
                f"Rows {batch.first} to {batch.last} are not those that {self._path} is about. Upload the same rows in"
                " the same order, or begin with a new file."
            )
        return report

    def is_uncertain(self, batch: Batch) -> bool:
        """Whether a batch was sent so long ago that the server does not recognise it any more."""
        begun = self._begun.get(batch.number)
        return begun is not None and time.time() - begun[1] > KEPT_SECONDS

    def begin(self, batch: Batch) -> None:
        """Writes down that a batch is sent now. The time is that of the first attempt."""
        if batch.number not in self._begun:
            self._begun[batch.number] = (batch.digest, time.time())
            self._write({"begins": batch.number, "first": batch.first, "digest": batch.digest, "at": time.time()})

    def end(self, batch: Batch, report: UploadReport) -> None:
        """Writes down what became of a batch."""
        refused = [[each.row, each.reason, each.error_code] for each in report.refused]
        self._write({"ends": batch.number, "digest": batch.digest, "added": report.added, "refused": refused})

    def _load(self, path: Path, about: dict[str, object]) -> None:
        if not path.exists() or not path.stat().st_size:
            self._write({"upload": 1, "run": self.run, **about})
            return
        lines, size = _whole_lines(path)
        head = lines[0] if lines else {}
        if head.get("upload") != 1:
            raise ResumeError(f"{path} is not the state of an upload.")
        for name, value in about.items():
            if head.get(name) != value:
                raise ResumeError(f"{path} is about another upload: its {name} is {head.get(name)}, not {value}.")
        self.run = str(head["run"])
        for line in lines[1:]:
            self._take(line)
        os.truncate(path, size)  # without what a process that was killed had begun to write

    def _take(self, line: dict[str, Any]) -> None:
        if "begins" in line:
            self._begun[line["begins"]] = (line["digest"], line["at"])
        else:
            refused = [Refused(*each) for each in line["refused"]]
            self._ended[line["ends"]] = (line["digest"], UploadReport(line["added"], refused))

    def _write(self, line: Mapping[str, object]) -> None:
        if self._path is None:
            return
        with self._path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _whole_lines(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The lines that were written to their end, and how many bytes they are."""
    lines, size = [], 0
    with path.open("rb") as file:
        for line in file:
            try:
                value = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                value = None
            if not isinstance(value, dict):
                break
            lines.append(value)
            size += len(line)
    return lines, size
