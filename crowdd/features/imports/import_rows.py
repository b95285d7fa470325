"""Turn a row of a table into a task column by column, refuse cells that do not fit, and unpack an archive of one file.

Cells of columns that are numbers are refused in ``files/decimal_commas.py``, those of exported files in
``exported_files.py``; ``reader.py`` collects all refusals.

PyBossa exports such archives. Unpacking waits for the disk.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import orjson

from crowdd.features.imports.files.containers import (
    BROKEN,
    ZIP,
    is_darwin_core,
    observation_tables,
    require_small_directory,
)
from crowdd.features.imports.files.dialect import TABLES
from crowdd.kernel import exact_json
from crowdd.kernel.errors import CrowddError, InvalidValueError, TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.task import TASK
from crowdd.kinds.types import is_clean_text, require_object

ATTRIBUTES = ("n_answers", "priority_0", "quorum")
GOLD = "gold"  # the right answer to a task, which makes it a gold task
USES = ("info", *ATTRIBUTES, GOLD, "whole", "skip")
"""What a column may become: a key of info, an attribute of the task, its right answer, info itself, or nothing."""
_GOLD_COLUMNS = ("gold", "gold_answers")
MAX_KEY_CHARACTERS = 500
_INFO = TASK.field("info")
_REPEATED = frozenset({str, int, float, bool, type(None)})
_MAX_KNOWN = 1000


def default_uses(format_: str, columns: list[str]) -> dict[str, str]:
    """What columns become unless somebody says otherwise, as PyBossa has it.

    The state is the server's to know. Of two columns with right answers the first of _GOLD_COLUMNS counts, and neither
    stays in the task. In JSON, ``info`` is the task's whole info where no other key would be lost.
    """
    uses = {name: "skip" if name == "state" else name if name in ATTRIBUTES else "info" for name in columns}
    gold = [name for name in _GOLD_COLUMNS if name in columns]
    if len(columns) > len(gold):
        uses.update(zip(gold, (GOLD, "skip"), strict=False))
    others = [name for name, use in uses.items() if use == "info" and name != "info"]
    if format_ not in TABLES and "info" in uses and not others:
        uses["info"] = "whole"
    return uses


def check_uses(uses: object, columns: list[str]) -> dict[str, str]:
    """The uses of all columns. Raises InvalidValueError for two that become the same, and for what nobody knows."""
    sent = require_object(uses, "uses")
    chosen = {name: sent.get(name, "info") for name in columns}
    for name, use in chosen.items():
        if use not in USES:
            words = _(
                "%(name)s cannot be used as %(use)s. Possible uses: %(uses)s.",
                name=name[:100],
                use=str(use)[:100],
                uses=", ".join(USES),
            )
            raise InvalidValueError(words)
    single = [use for use in chosen.values() if use not in ("info", "skip")]
    twice = next((use for use in single if single.count(use) > 1), None)
    if twice is not None:
        raise InvalidValueError(_("Only one column can be used as %(use)s.", use=twice))
    if "whole" in single and "info" in chosen.values():
        raise InvalidValueError(_("If one column is the entire task data, no other column can be task data."))
    if not any(use in ("info", "whole") for use in chosen.values()):
        raise InvalidValueError(_("A task would be empty. Keep at least one column."))
    return chosen


def require_key(key: str | None, uses: Mapping[str, str]) -> None:
    """Raises InvalidValueError for a key column by which no task could be found: it has to be kept as task data."""
    if key is not None and uses.get(key) != "info" and "whole" not in uses.values():
        raise InvalidValueError(_("The key column %(name)s must be kept as task data.", name=key[:100]))


def key_of(info: object, name: str) -> str:
    """The value by which a row is found again. Raises InvalidValueError where it has none."""
    value = info.get(name) if isinstance(info, Mapping) else None
    if value in ("", None):
        raise InvalidValueError(_("The key column %(name)s is empty in this row.", name=name[:100]))
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidValueError(_("The key column %(name)s must contain text or a whole number.", name=name[:100]))
    text = value if isinstance(value, str) else str(value)
    if len(text) > MAX_KEY_CHARACTERS:
        words = _("The key is longer than %(max)s characters.", max=MAX_KEY_CHARACTERS)
        raise InvalidValueError(words)
    return text


@attrs.frozen
class _Layout:
    """What the columns of a row become. ``infos`` are keys of info; None: all columns are, and nothing else."""

    infos: tuple[str, ...] | None
    whole: str | None
    given: tuple[tuple[str, str], ...]
    gold: str | None


class TaskMaker:
    """Makes tasks of rows. Most rows have the same columns and one of a few attributes: these are worked out once."""

    def __init__(self, uses: Mapping[str, str], n_answers: int | None = None) -> None:
        self._uses, self._n_answers = uses, n_answers
        self._columns: tuple[str, ...] | None = None
        self._layout = _Layout(None, None, (), None)
        self._known: dict[object, tuple[Values, list[str]]] = {}

    def made(self, values: Mapping[str, object]) -> tuple[object, Values, list[str]]:
        """The info of a new task, not checked yet; its other values; the attributes that the row has itself.

        Of n_answers, priority_0, quorum and calibration each has a value, ``gold`` is there if the row has the right
        answer. A column that was not there when the file was read first is kept in info. Raises InvalidValueError.
        """
        if (columns := tuple(values)) != self._columns:
            self._columns, self._layout, self._known = columns, _layout(columns, self._uses), {}
        layout = self._layout
        if layout.infos is None:
            info: object = values
        elif layout.whole is None:
            info = {name: values[name] for name in layout.infos}
        else:
            info = values[layout.whole]
        cells = tuple([values[name] for name, _ in layout.given])
        try:
            made, attribute_names = self._known[cells, (*map(type, cells),)]
        except (KeyError, TypeError):
            made, attribute_names = self._attributes(cells)
        if layout.gold is not None and (right := values[layout.gold]) not in ("", None):
            made = {**made, GOLD: right}
        return info, made, attribute_names

    def _attributes(self, cells: tuple[object, ...]) -> tuple[Values, list[str]]:
        attributes = {
            use: cell for (_, use), cell in zip(self._layout.given, cells, strict=True) if cell not in ("", None)
        }
        made = _checked_attributes(attributes, self._n_answers), list(attributes)
        if len(self._known) < _MAX_KNOWN and _REPEATED.issuperset(map(type, cells)):
            self._known[cells, (*map(type, cells),)] = made
        return made


def _layout(columns: Sequence[str], uses: Mapping[str, str]) -> _Layout:
    by_use = [(name, uses.get(name, "info")) for name in columns]
    infos = tuple(name for name, use in by_use if use == "info")
    whole, gold = (next((name for name, use in by_use if use == wanted), None) for wanted in ("whole", GOLD))
    attribute_columns = tuple((name, use) for name, use in by_use if use in ATTRIBUTES)
    return _Layout(None if len(infos) == len(columns) else infos, whole, attribute_columns, gold)


def task_of(values: Mapping[str, object], uses: Mapping[str, str], n_answers: int | None = None) -> dict[str, Any]:
    """The values of a new task for a row as ``TaskMaker`` has them, and ``given``. Raises InvalidValueError."""
    info, made, attribute_names = TaskMaker(uses, n_answers).made(values)
    return {**made, "info": exact_json.loads(info_text(info)), "given": attribute_names}


def info_text(info: object) -> bytes:
    """The info of a task as JSON, its keys in order, found to be one that can be stored. Raises InvalidValueError."""
    try:
        text = orjson.dumps(info, option=orjson.OPT_SORT_KEYS)
        if len(text) <= _INFO.max_bytes and is_clean_text(text):
            return text
    except TypeError:
        pass
    try:
        return orjson.dumps(_INFO.parse(info), option=orjson.OPT_SORT_KEYS)
    except CrowddError as error:
        raise InvalidValueError(f"{error}") from None


def new_task(info: object, attributes: Mapping[str, object], n_answers: int | None = None) -> dict[str, Any]:
    """The values of a task with these attributes, the others as usual; ``given`` has the names. InvalidValueError."""
    try:
        clean = _INFO.parse(info)
    except CrowddError as error:
        raise InvalidValueError(f"{error}") from None
    return {**_checked_attributes(attributes, n_answers), "info": clean, "given": list(attributes)}


def _checked_attributes(attributes: Mapping[str, object], n_answers: int | None) -> Values:
    """The attributes of a task without its info: not to be changed. Raises InvalidValueError."""
    try:
        if _REPEATED.issuperset(map(type, attributes.values())):
            return _attributes(tuple((name, type(value), value) for name, value in attributes.items()), n_answers)
        return _made(attributes, n_answers)
    except CrowddError as error:
        raise InvalidValueError(f"{error}") from None


@lru_cache(maxsize=1000)  # most rows of a file have the same few
def _attributes(typed_attributes: tuple[tuple[str, type, object], ...], n_answers: int | None) -> Values:
    return _made({name: value for name, _type, value in typed_attributes}, n_answers)


def _made(attributes: Mapping[str, object], n_answers: int | None) -> Values:
    usual_ = {} if n_answers is None else {"n_answers": n_answers}
    made = TASK.creation({"project_id": 0, **usual_, **attributes})
    del made["project_id"], made["info"]
    return made


_SUFFIXES = (".json", ".csv", ".tsv", ".ndjson", ".jsonl")
_PIECE = 65_536


def unpack_archive(path: Path, max_bytes: int) -> str:
    """Puts the one file of an archive in the archive's place; its name, "" where the file is no such archive.

    The copy that PyBossa adds with ``info`` only is passed over. Raises InvalidValueError for an archive that is broken
    or has several files, TooLargeError for a file of more than ``max_bytes``.
    """
    with path.open("rb") as file:
        if file.read(4) != ZIP or not zipfile.is_zipfile(path):
            return ""
    try:
        require_small_directory(path)
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if {"[Content_Types].xml", "mimetype"} & {*names} or is_darwin_core(names) or observation_tables(names):
                return ""  # a workbook, or tables that belong together
            name = _chosen(names)
            _extract(archive, name, path, max_bytes)
    except BROKEN:
        raise InvalidValueError(_("The archive cannot be read. Unpack it, and import the file in it.")) from None
    return name


def _chosen(names: list[str]) -> str:
    files = [name for name in names if name.lower().endswith(_SUFFIXES) and "info_only" not in name]
    if not files:
        raise InvalidValueError(_("The archive has no CSV, JSON or NDJSON file."))
    if len(files) > 1:
        shown = ", ".join(name[:100] for name in files[:5])
        raise InvalidValueError(
            _("The archive has several files (%(names)s). Import one after the other.", names=shown)
        )
    return files[0]


def _extract(archive: zipfile.ZipFile, name: str, path: Path, max_bytes: int) -> None:
    draft = path.with_name(f"{path.name}.part")
    try:
        with archive.open(name) as member, draft.open("wb") as out:
            size = 0
            while piece := member.read(_PIECE):
                size += len(piece)
                if size > max_bytes:
                    raise TooLargeError(_("The file has more than %(maximum)s bytes.", maximum=f"{max_bytes:,}"))
                out.write(piece)
        shutil.move(draft, path)
    finally:
        draft.unlink(missing_ok=True)
