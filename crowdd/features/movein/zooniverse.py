"""Convert data exports of Zooniverse into the files that imports of tasks and answers read.

Zooniverse exports CSV files (https://help.zooniverse.org, Data exports). A row of subjects is a subject in a workflow:
``subject_id``, ``workflow_id``, ``subject_set_id``, ``metadata`` and ``locations`` (JSON), ``retired_at`` and
``created_at``. A row of classifications is what a volunteer said of a subject: ``classification_id``, ``user_id``,
``user_ip`` (a digest), ``workflow_id``, ``workflow_version``, ``created_at``, ``metadata`` and ``annotations`` (JSON:
a list of objects with ``task`` and ``value``), and ``subject_ids``.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

import attrs
import orjson

from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.values import Values

MAX_ANSWERS: Final = 1000  # that a task may need
# Added to the number of the workflow: what is imported must not be mistaken for rows of this site's own projects.
_SOURCE: Final = 1 << 52
_TIMES: Final = ("%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%SZ")
_DIGITS: Final = re.compile(r"[0-9]{1,16}")  # of a number below _SOURCE
Row = Mapping[str, str]


class RowError(Exception):
    """A row that cannot come over; the text says why."""


def task(row: Row, n_answers: int) -> Values:
    """A subject as an exported task. ``info`` has ``subject_id``, ``subject_set_id``, ``metadata`` and ``media``."""
    subject, locations = _number(row, "subject_id"), _json(row, "locations")
    if not isinstance(locations, dict):
        raise RowError("`locations` is not an object.")
    info = {
        "subject_id": subject,
        "subject_set_id": row.get("subject_set_id") or None,
        "media": [address for _, address in sorted(locations.items(), key=lambda each: each[0].zfill(9))],
        "metadata": _json(row, "metadata"),
    }
    return {
        "id": subject,
        "project_id": _source(row),
        "created": _time(row.get("created_at") or "2007-07-12 00:00:00 UTC"),
        "n_answers": max(1, min(n_answers, MAX_ANSWERS)),
        "info": info,
    }


def answer(row: Row) -> Values:
    """A classification as an exported answer.

    ``info`` has the value of each task of the workflow under its name, and the annotations as they are.
    """
    annotations = _json(row, "annotations")
    if not isinstance(annotations, list) or not all(isinstance(each, dict) for each in annotations):
        raise RowError("`annotations` is not a list of objects.")
    finished = _time(row["created_at"])
    values = {str(each.get("task")): each.get("value") for each in annotations}
    return {
        "id": _number(row, "classification_id"),
        "project_id": _source(row),
        "task_id": subject_of(row),
        "volunteer": volunteer(row),
        "created": _started(row, finished),
        "finish_time": finished,
        "info": {**values, "annotations": annotations, "workflow_version": row.get("workflow_version") or None},
    }


def subject_of(row: Row) -> int:
    """The subject of a classification. Raises RowError where there are several."""
    if not _DIGITS.fullmatch(row["subject_ids"]):
        raise RowError("It is about several subjects, or none.")
    return int(row["subject_ids"])


def volunteer(row: Row) -> str:
    """Who gave a classification, as far as the file tells. The import makes a random name of it."""
    if row["user_id"]:
        return f"user {row['user_id']}"
    return f"network {row['user_ip']}" if row["user_ip"] else f"classification {row['classification_id']}"


def _source(row: Row) -> int:
    return _SOURCE + _number(row, "workflow_id")


def _number(row: Row, name: str) -> int:
    number = int(row[name]) if _DIGITS.fullmatch(row[name]) else 0
    if not 0 < number < _SOURCE:
        raise RowError(f"`{name}` is not a number.")
    return number


def _json(row: Row, name: str) -> object:
    try:
        return exact_json.loads(row[name])
    except orjson.JSONDecodeError:
        raise RowError(f"`{name}` is not JSON.") from None


def _time(text: str) -> str:
    for form in _TIMES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        except ValueError:
            continue
    raise RowError("`created_at` is not a time.")


def _started(row: Row, finished: str) -> str:
    """When the volunteer began, if the row says so and it is before the end."""
    try:
        began = _time(str(orjson.loads(row.get("metadata") or "{}").get("started_at")))
    except (RowError, orjson.JSONDecodeError, AttributeError):
        return finished
    return min(began, finished)


_SUBJECTS: Final = frozenset({"subject_id", "workflow_id", "metadata", "locations", "retired_at"})
_CLASSIFICATIONS: Final = frozenset(
    {"classification_id", "user_id", "user_ip", "workflow_id", "created_at", "annotations", "subject_ids"}
)
_SHOWN: Final = 20
_OTHER_WORKFLOW: Final = "It belongs to another workflow."


@attrs.define
class Sums:
    """What became of the rows of a file: how many were read, and refused for which reason, with the first ids.

    ``subjects``: those that became tasks.
    """

    read: int = 0
    converted: int = 0
    reasons: Counter[str] = attrs.field(factory=Counter)
    first: defaultdict[str, list[str]] = attrs.field(factory=lambda: defaultdict(list))
    subjects: set[int] = attrs.field(factory=set)

    def refuse(self, reason: str, row_id: str) -> None:
        """Counts a row that does not come over."""
        self.reasons[reason] += 1
        if len(self.first[reason]) < _SHOWN:
            self.first[reason].append(row_id)


@attrs.frozen
class Export:
    """The files of one project, and the workflow that is taken. Raises InvalidValueError for other files."""

    subjects: Path
    classifications: Path | None
    workflow: str

    def write_tasks(self, out: IO[bytes], n_answers: int) -> Sums:
        """Writes the subjects of the workflow as tasks, one JSON object in a line.

        A retired subject needs as many answers as it has from different volunteers, so it is complete with them. Others
        need ``n_answers``.
        """
        sums, seen, volunteers_by_subject = Sums(), set[str](), self._volunteers()
        for row in self._rows(self.subjects, _SUBJECTS, sums, "subject_id"):
            subject = row["subject_id"]
            if subject in seen:
                sums.refuse("The subject is in another subject set as well: it becomes one task.", subject)
                continue
            seen.add(subject)
            needed = len(volunteers_by_subject.get(subject, ())) if row["retired_at"] else 0
            try:
                _line(out, sums, task(row, needed or n_answers))
                sums.subjects.add(int(subject))
            except RowError as error:
                sums.refuse(str(error), subject)
        return sums

    def write_answers(self, out: IO[bytes], subjects: Container[int]) -> Sums:
        """Writes the classifications of these subjects as answers: of each volunteer the first."""
        sums, seen_pairs = Sums(), set[tuple[int, int]]()
        if self.classifications is not None:
            for row in self._rows(self.classifications, _CLASSIFICATIONS, sums, "classification_id"):
                try:
                    made = answer(row)
                    subject, who = int(made["task_id"]), hash(made["volunteer"])
                    if subject not in subjects:
                        raise RowError("Its subject does not come over.")
                    if (subject, who) in seen_pairs:
                        raise RowError("The same volunteer has another classification of the subject.")
                    seen_pairs.add((subject, who))
                    _line(out, sums, made)
                except RowError as error:
                    sums.refuse(str(error), row["classification_id"])
        return sums

    def _volunteers(self) -> dict[str, set[int]]:
        """For each subject, who classified it (digests)."""
        volunteers_by_subject: dict[str, set[int]] = {}
        if self.classifications is not None:
            for row in self._rows(self.classifications, _CLASSIFICATIONS, Sums(), "classification_id"):
                try:
                    someone = volunteers_by_subject.setdefault(str(subject_of(row)), set())
                except RowError:
                    continue
                if len(someone) < MAX_ANSWERS:
                    someone.add(hash(volunteer(row)))
        return volunteers_by_subject

    def _rows(self, path: Path, needed: frozenset[str], sums: Sums, named: str) -> Iterator[Row]:
        """The rows of the workflow. Those of others are counted as refused."""
        for row in read_rows(path, needed):
            sums.read += 1
            if row["workflow_id"] == self.workflow:
                yield row
            else:
                sums.refuse(_OTHER_WORKFLOW, row[named])


def _line(out: IO[bytes], sums: Sums, value: object) -> None:
    out.write(orjson.dumps(value) + b"\n")
    sums.converted += 1


def read_rows(path: Path, needed: frozenset[str]) -> Iterator[Row]:
    """The rows of a CSV file with at least these columns. Raises InvalidValueError."""
    csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if missing := needed - {*(reader.fieldnames or ())}:
                names = ", ".join(sorted(missing))
                raise InvalidValueError(f"{path.name} is not such an export of Zooniverse: it has no column {names}.")
            for row in reader:
                yield {name: value or "" for name, value in row.items() if name is not None}
    except (csv.Error, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{path.name} cannot be read: {error}.") from None
