"""A project as a folder of files: what ``crowdctl project load`` reads, and ``crowdctl project export`` writes.

``project.json`` says what the project is, ``presenter.html``, ``results.html``, ``tutorial.html`` and
``long_description.md`` hold its longer texts, ``tasks.ndjson`` or ``tasks.csv`` its tasks, ``versions.json`` earlier
versions of its questions and guides. All is checked here, before anything is stored. Files are read while the caller
waits: this is for programs that do nothing else meanwhile.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import orjson

from crowdd import exact_json
from crowdd.domain.projects.questions.folder_versions import VERSIONS_FILE, checked
from crowdd.domain.transfer.missing_files import Missing
from crowdd.errors import CrowddError, InvalidValueError, NotFoundError
from crowdd.kinds.task import TASK
from crowdd.storage.projects.versions.version_rows import KeptVersion
from crowdd.values import Values

PROJECT_FILE = "project.json"
TASK_FILES = ("tasks.ndjson", "tasks.csv")
# Where the content of a file stands in the project: its attribute, or a key of its info.
INFO_FILES = {"presenter.html": "task_presenter", "results.html": "results", "tutorial.html": "tutorial"}
LONG_DESCRIPTION = "long_description.md"
# Columns that are attributes of a task; all others are keys of its info. The state is the server's to know: it stands
# in what was exported, and is passed over.
ATTRIBUTES = frozenset({"state", "quorum", "calibration", "priority_0", "n_answers"})


@attrs.frozen
class Folder:
    """A project folder whose files have been read and found good, all but the files that ``info`` names."""

    path: Path
    project: Values  # attributes of the project as REST takes them, without its category
    category: str | None  # short name
    n_answers: int | None  # of tasks that say nothing about it
    published: bool  # opens the project the first time
    n_tasks: int
    files: dict[str, Path]  # by path relative to the folder, what info may name
    missing: Missing  # what tasks name and is not there
    versions: dict[str, list[KeptVersion]]  # earlier ones of questions and guides, by key of info

    def tasks(self) -> Iterator[Values]:
        """The tasks in the order of the file: values of info, n_answers, priority_0, quorum, calibration."""
        return (values for _place, values in _tasks(self.path, self.n_answers))

    def named_in(self, value: object, address: Callable[[str], str]) -> Any:
        """The JSON value with each text that is the path of a file replaced by what ``address`` says of it."""
        return texts_changed(value, lambda text: address(text) if text in self.files else text)


def texts_changed(value: object, change: Callable[[str], str]) -> Any:
    """The JSON value with each of its texts as ``change`` makes it; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [texts_changed(item, change) for item in value]
    if isinstance(value, dict):
        return {key: texts_changed(item, change) for key, item in value.items()}
    return value


def read(path: Path) -> Folder:
    """The folder as a project.

    Raises NotFoundError when it is none, InvalidValueError with file and line for what cannot be used.
    """
    project = _project(path)
    category, n_answers, published = (project.pop(name, None) for name in ("category", "n_answers", "published"))
    if not isinstance(published, bool | None):
        raise InvalidValueError(f"{path / PROJECT_FILE}: published must be true or false.")
    if not isinstance(category, str | None):
        raise InvalidValueError(f"{path / PROJECT_FILE}: category must be a string.")
    files = dict(_files(path))
    missing, n_tasks = Missing(files), 0
    for place, values in _tasks(path, n_answers):
        missing.look(place, values["info"])
        n_tasks += 1
    return Folder(
        path=path,
        project=project,
        category=category,
        n_answers=n_answers,
        published=bool(published),
        n_tasks=n_tasks,
        files=files,
        missing=missing,
        versions=_versions(path / VERSIONS_FILE),
    )


def _project(path: Path) -> Values:
    source = path / PROJECT_FILE
    if not source.is_file():
        raise NotFoundError(f"{path} is not a project folder: it contains no {PROJECT_FILE}.")
    attributes = _object(_text(source), str(source))
    for name in ("name", "short_name"):
        if not isinstance(attributes.get(name), str) or not attributes[name].strip():
            raise InvalidValueError(f"{source}: {name} is missing.")
    info = attributes.get("info", {})
    if not isinstance(info, dict):
        raise InvalidValueError(f"{source}: info must be an object.")
    texts = {key: _text(path / name) for name, key in INFO_FILES.items() if (path / name).is_file()}
    if (path / LONG_DESCRIPTION).is_file():
        attributes["long_description"] = _text(path / LONG_DESCRIPTION)
    return {**attributes, "short_name": attributes["short_name"].strip(), "info": {**info, **texts}}


def _versions(source: Path) -> dict[str, list[KeptVersion]]:
    return checked(_object(_text(source), str(source)), str(source)) if source.is_file() else {}


def _tasks(path: Path, n_answers: int | None) -> Iterator[tuple[str, Values]]:
    """Each task with the file and the line that it stands in."""
    paths = [path / name for name in TASK_FILES if (path / name).is_file()]
    if len(paths) > 1:
        raise InvalidValueError(f"{path} has both {' and '.join(TASK_FILES)}: remove one of them.")
    usual = {} if n_answers is None else {"n_answers": n_answers}
    for source in paths:
        for place, row in (_csv_rows if source.suffix == ".csv" else _json_rows)(source):
            yield place, _task(place, row, usual)


def _task(place: str, row: Values, usual: Values) -> Values:
    attributes = {name: value for name, value in row.items() if name in ATTRIBUTES - {"state"}}
    rest = {name: value for name, value in row.items() if name not in ATTRIBUTES}
    if "info" in rest and len(rest) > 1:
        raise InvalidValueError(
            f"{place}: besides info, the only attributes allowed are {', '.join(sorted(ATTRIBUTES))}."
        )
    body = {**usual, **attributes, "info": rest.get("info", rest), "project_id": 0}
    try:
        values = TASK.creation(body)
    except CrowddError as error:
        raise InvalidValueError(f"{place}: {error}") from None
    del values["project_id"]
    return values


def _json_rows(source: Path) -> Iterator[tuple[str, Values]]:
    """Each line that is not empty, with the place it stands at."""
    with source.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                place = f"{source}, line {number}"
                yield place, _object(line, place)


def _csv_rows(source: Path) -> Iterator[tuple[str, Values]]:
    """Each row by the names of the first line; an empty cell says nothing about an attribute."""
    with source.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines)
        try:
            names = rows.fieldnames or []
            if len({*names}) < len(names):
                raise InvalidValueError(f"{source}: two columns have the same name.")
            for row in rows:
                place = f"{source}, line {rows.line_num}"
                if None in row or None in row.values():
                    raise InvalidValueError(f"{place}: the number of cells differs from the first line.")
                yield place, {name: text for name, text in row.items() if text or name not in ATTRIBUTES}
        except (csv.Error, UnicodeDecodeError) as error:
            raise InvalidValueError(f"{source}, after line {rows.line_num}: {error}.") from None


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """What lies in the folder: no hidden files, none that lead elsewhere, and not those that make up the project."""
    ours = {PROJECT_FILE, LONG_DESCRIPTION, VERSIONS_FILE, *TASK_FILES, *INFO_FILES}
    for folder, subfolders, names in os.walk(path):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        for file in (Path(folder, name) for name in names if not name.startswith(".")):
            name = file.relative_to(path).as_posix()
            if name not in ours and file.is_file() and file.resolve().is_relative_to(path.resolve()):
                yield name, file


def _text(source: Path) -> str:
    try:
        return source.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidValueError(f"{source} is not UTF-8 text.") from None


def _object(text: str | bytes, place: str) -> Values:
    try:
        value = exact_json.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidValueError(f"{place}: this is not JSON: {exact_json.reason(error)}.") from None
    if not isinstance(value, dict):
        raise InvalidValueError(f"{place}: this is not a JSON object.")
    return value
