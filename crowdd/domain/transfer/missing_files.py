"""Files that the tasks of a project folder name and that are not in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import attrs

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
