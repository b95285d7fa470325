"""Single rows of Zooniverse's exports as rows of exported tasks and answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import orjson

from crowdd import exact_json
from crowdd.values import Values

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
