"""A project as a folder of files: read and check it, and find the files that its tasks name but that are missing.

``crowdctl project load`` reads such a folder and ``crowdctl project export`` writes one.
``project.json`` says what the project is, ``presenter.html``, ``results.html``, ``tutorial.html`` and
``long_description.md`` hold its longer texts, ``tasks.ndjson`` or ``tasks.csv`` its tasks, ``versions.json`` earlier
versions of its questions and guides, ``translations.json`` its texts in other languages. All is checked here, before
anything is stored. Files are read while the caller waits: this is for programs that do nothing else meanwhile.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import orjson

from crowdd.features.questions.folder_versions import VERSIONS_FILE, checked
from crowdd.features.questions.rows import KeptVersion
from crowdd.features.translations import folder_translations
from crowdd.features.translations.folder_translations import TRANSLATIONS_FILE
from crowdd.kernel import exact_json
from crowdd.kernel.errors import CrowddError, InvalidValueError, NotFoundError
from crowdd.kernel.values import Values
from crowdd.kinds.task import TASK
from crowdd.kinds.translations import Translated

MAX_NAMED = 100  # places that are remembered; the others are counted
_MAX_LENGTH = 255
_KINDS = (
    "apng avif bmp gif heic jfif jp2 jpe?g png svg tiff? webp aac aiff? flac m4a mid mp3 oga ogg opus wav wma"
    " avi m4v mkv mov mp4 mpe?g ogv webm csv geojson gpx html? json kml ndjson pdf tsv txt vtt xml zip"
)
# A relative path without a scheme and a backslash. No host stands in front: a dot inside the first name.
_WITH_ENDING = re.compile(rf"(?:[^/\\:?\"<>|\s]+/)*[^/\\:?\"<>|\s]+\.(?:{_KINDS.replace(' ', '|')})", re.IGNORECASE)


@attrs.frozen
class Named:
    """A value that names a file: which task (file and line), which column (keys of ``info``), what it says."""

    task: str
    column: str
    value: str
    similar: str = ""  # a file that is there and differs in the case of its letters or a ./ only

    def __str__(self) -> str:
        more = f" ({self.similar} is there)" if self.similar else ""
        return f"{self.task}, `{self.column}`: {self.value}{more}"


@attrs.define
class Missing:
    """How many values name a file that is not there, in how many tasks, and the first of them."""

    files: Collection[str] = attrs.field(repr=False)  # what there is
    values: int = 0
    tasks: int = 0
    named: list[Named] = attrs.field(factory=list)
    _folders: frozenset[str] = attrs.field(init=False, repr=False)
    _by_case: dict[str, str] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._folders = frozenset(name.partition("/")[0] for name in self.files if "/" in name)
        self._by_case = {name.lower(): name for name in self.files}

    def look(self, task: str, info: object) -> None:
        """Looks at a task; ``task`` says where it stands."""
        before = self.values
        for column, value in _texts(info, ""):
            if value not in self.files and names_file(value, self._folders):
                self.values += 1
                if len(self.named) < MAX_NAMED:
                    self.named.append(Named(task, column, value, self._similar(value)))
        self.tasks += self.values > before

    def _similar(self, value: str) -> str:
        return self._by_case.get(value.removeprefix("./").lower(), "")

    def __str__(self) -> str:
        times = "1 value names a file that is" if self.values == 1 else f"{self.values:,} values name files that are"
        return f"{times} not in the folder, in {self.tasks:,} task{'' if self.tasks == 1 else 's'}"

    def lines(self, maximum: int) -> Iterator[str]:
        """The first places, one in a line, and how many there are beyond."""
        yield from map(str, self.named[:maximum])
        if self.values > maximum:
            yield f"and {self.values - maximum:,} more"


def names_file(value: str, folders: Iterable[str]) -> bool:
    """Whether a text looks like the path of a file in a folder that has these folders in it."""
    if len(value) > _MAX_LENGTH or "\n" in value or "://" in value or value.startswith("/"):
        return False
    first, slash, rest = value.removeprefix("./").partition("/")
    if slash and rest and first in folders:
        return True
    return _WITH_ENDING.fullmatch(value) is not None and not (slash and "." in first.lstrip(".")[1:-1])


def _texts(value: object, column: str) -> Iterator[tuple[str, str]]:
    """Each text in a JSON value, with the keys that lead to it; places in arrays are left out."""
    if isinstance(value, str):
        yield column, value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, column)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, f"{column}.{key}" if column else key)


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
    translations: dict[str, dict[str, Translated]]  # by language and key
    samples: bool = False  # tasks are samples, to be removed before the project is published

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


def read_folder(path: Path) -> Folder:
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
        translations=_translations(path / TRANSLATIONS_FILE),
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


def _translations(source: Path) -> dict[str, dict[str, Translated]]:
    return folder_translations.checked(_object(_text(source), str(source)), str(source)) if source.is_file() else {}


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
    ours = {PROJECT_FILE, LONG_DESCRIPTION, VERSIONS_FILE, TRANSLATIONS_FILE, *TASK_FILES, *INFO_FILES}
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
