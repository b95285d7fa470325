"""Files that came out of crowdd or PyBossa: exports of tasks, task runs and results, told by their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import orjson

from crowdd.core.text.words import escape_formula
from crowdd.features.imports.import_rows import new_task
from crowdd.kernel import exact_json
from crowdd.kernel.errors import CrowddError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kinds.kind import Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS, Role
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Timestamp, iso

TABLE, TASKS, ANSWERS, RESULTS = "table", "tasks", "answers", "results"
KINDS = (TABLE, TASKS, ANSWERS, RESULTS)
_ATTRIBUTES = ("n_answers", "priority_0", "quorum", "calibration")
_FOLDER = frozenset({"info", *_ATTRIBUTES})  # of a line that ``crowdctl project export`` writes
_TASKS = frozenset({"id", "project_id", "created"})
_ANSWERS = frozenset({"id", "task_id", "project_id", "finish_time"})
_RESULTS = frozenset({"task_id", "project_id", "task_run_ids"})
_KEPT: Mapping[str, tuple[str, ...]] = {
    TASKS: _ATTRIBUTES,
    ANSWERS: ("created", "finish_time", "timeout", "calibration", "media_url"),
    RESULTS: (),
}  # beside info
_MAX_ID = 2**63 - 1
_TIME = Timestamp()
_CREATORS = frozenset({Role.CREATOR, Role.ADMIN})
_FALSE = frozenset({"false", "f", "0"})


def kind_of(columns: list[str]) -> str:
    """What a file with these columns is, one of KINDS."""
    names = frozenset(columns)
    if not ("info" in names or any(name.startswith("info_") for name in names)):
        return TABLE
    if names >= _RESULTS:
        return RESULTS
    if names >= _ANSWERS:
        return ANSWERS
    if names >= _TASKS and names & {"n_answers", "state"}:
        return TASKS
    return TASKS if names == _FOLDER else TABLE


def importers(kind: str) -> frozenset[Role]:
    """Who may import such a file: answers and results speak for others, so no co-owner does."""
    return _CREATORS if kind in (ANSWERS, RESULTS) else OWNERS


def left_behind(kind: str, columns: list[str]) -> list[str]:
    """The columns of an export that do not come back; none of another file, nor of one that has not been read."""
    if kind not in _KEPT:
        return []
    imported_columns = {"info", *_KEPT[kind]}
    return [name for name in columns if name not in imported_columns and not name.startswith("info_")]


def task_of(values: Mapping[str, object]) -> dict[str, Any]:
    """The values of a new task as the exported one had them; ``source`` and ``original`` are its project and its id.

    Both are None where the file has none. Raises InvalidValueError.
    """
    attributes = {name: values[name] for name in _ATTRIBUTES if values.get(name) not in ("", None)}
    made = new_task(_info(values), attributes)
    named = "id" in values
    origin = {"source": _id(values, "project_id"), "original": _id(values, "id")} if named else {}
    return {**made, "source": None, "original": None, **origin}


def answer_of(values: Mapping[str, object], pseudonym: Callable[[int, str], str], latest: datetime) -> dict[str, Any]:
    """An answer as ``statements.add_answers`` takes it. ``pseudonym(project, volunteer)`` names the new volunteer.

    Raises InvalidValueError, also for an answer that is younger than ``latest``.
    """
    source, run = _id(values, "project_id"), _id(values, "id")
    finished = _time(values, "finish_time")
    if finished > latest:
        raise InvalidValueError(_("`finish_time` is in the future."))
    created = min(finished, _time(values, "created")) if values.get("created") else finished
    uid = pseudonym(source, _volunteer(values, run))
    return {
        "source": source,
        "task": _id(values, "task_id"),
        "run": run,
        "actor": f"x:{uid}",
        "uid": uid,
        "info": _field(values, "info", _info(values)),
        "created": f"{iso(created)}Z",
        "finished": f"{iso(finished)}Z",
        "late": _field(values, "timeout", values.get("timeout") or None),
        "calibration": _field(values, "calibration", _or_none(values.get("calibration"))),
        "media_url": _field(values, "media_url", values.get("media_url") or None),
    }


def result_of(values: Mapping[str, object]) -> dict[str, Any]:
    """A result as ``results.results.fill_exported`` takes it. ``info`` None: there is nothing to fill in.

    Raises InvalidValueError.
    """
    return {
        "source": _id(values, "project_id"),
        "task": _id(values, "task_id"),
        "result": _id(values, "id") if values.get("id") not in ("", None) else None,
        "last": str(values.get("last_version")).lower() not in _FALSE,
        "info": _field(values, "info", _result_info(values), RESULT),
    }


def _result_info(values: Mapping[str, object]) -> Any:
    """``info`` as it was. Where an export of PyBossa mixes rows with and without keys, an empty cell is a key less."""
    if values.get("info") not in ("", None):
        return _info(values)
    keys = {name: value for name, value in values.items() if name.startswith("info_") and value not in ("", None)}
    return _info(keys) if keys else None


def _or_none(value: object) -> Any:
    return None if value == "" else value


def _volunteer(values: Mapping[str, object], run: int) -> str:
    """Who gave an answer, as far as the file tells: all answers of one volunteer have the same text."""
    for name in ("volunteer", "user_id", "external_uid", "user_ip"):
        if values.get(name) not in ("", None):
            return f"{name} {values[name]}"[:1000]
    return f"run {run}"


def _field(values: Mapping[str, object], name: str, value: object, kind: Kind = TASK_RUN) -> Any:
    if value is None:
        return None
    try:
        return kind.field(name).parse(value)
    except CrowddError as error:
        raise InvalidValueError(f"{name} {error}.") from None


def _time(values: Mapping[str, object], name: str) -> datetime:
    try:
        return _TIME.parse(values.get(name))
    except InvalidValueError:
        raise InvalidValueError(_("`%(name)s` is not a time.", name=name)) from None


def _id(values: Mapping[str, object], name: str) -> int:
    value = values.get(name)
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= _MAX_ID:
        raise InvalidValueError(_("`%(name)s` is not an id.", name=name))
    return number


def _info(values: Mapping[str, object]) -> Any:
    """``info`` as it was. In a table it is JSON, or a bare text; without it, its keys have columns of their own."""
    if "info" not in values:
        return {name.removeprefix("info_"): _plain(value) for name, value in values.items() if name.startswith("info_")}
    info = values["info"]
    if not isinstance(info, str):
        return info
    try:
        return exact_json.loads(info)
    except orjson.JSONDecodeError:
        return _plain(info)


def _plain(value: object) -> Any:
    """A text without the apostrophe that an export puts before what looks like a formula."""
    if isinstance(value, str) and value.startswith("'") and escape_formula(value[1:]) == value:
        return value[1:]
    return value
