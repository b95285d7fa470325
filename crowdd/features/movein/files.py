"""Files that PyBossa keeps in a folder: ``user_<id>/<name>``. They keep their addresses below ``/uploads/``."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from crowdd.core.text.picture_addresses import is_upload
from crowdd.core.uploads import Uploads
from crowdd.database.access import Database
from crowdd.features.movein import statements
from crowdd.features.movein.statements import Step
from crowdd.features.movein.values import note

NO_ADDRESS: Final = (
    "The file is not in a folder of its own container, is a link, or its name cannot stand in an address."
)
OF_OURS: Final = "crowdd keeps files of its own in a folder of this name."
EXPORT: Final = "An export that PyBossa made for download. Users can make a new one."
_OURS: Final = re.compile(r"site|(?:project|user)-\d+")
_AT_ONCE: Final = 100
Aside = Callable[..., Awaitable[Any]]
"""Calls a function with arguments in a thread, and returns what it returns."""


async def copy(
    uploads: Uploads,
    folder: Path,
    step: Step,
    aside: Aside,
    report: Callable[[str, int], None],
    *,
    dry: bool,
) -> None:
    """Copies the files that are not there yet. ``dry``: only counts them."""
    every = _files(folder)
    while some := await aside(_some, every):
        copied, refused = await aside(_copy, uploads, folder, some, dry)
        step["read"] += len(some)
        step["added"] += copied
        step["refused"] += len(refused)
        for why, name in refused:
            note(step, why, [name], refused=True)
        report("files", step["read"])


async def name(tx: Database, uploads: Uploads) -> None:
    """Has rows name their files, so that these go with them. Only files of the row's own people count."""
    for table in statements.WITH_FILES:
        for named_file in await statements.list_named_files(tx, table):
            container, _slash, file = named_file.path.partition("/")
            if is_upload(f"/uploads/{named_file.path}") and uploads.find(container, file):
                await statements.set_row_file(tx, table, named_file.id, named_file.path)


def _files(folder: Path) -> Iterator[Path]:
    """Paths below the folder, read while they are asked for."""
    for root, _folders, names in os.walk(folder):
        yield from ((Path(root) / each).relative_to(folder) for each in names)


def _some(every: Iterator[Path]) -> list[Path]:
    return list(islice(every, _AT_ONCE))


def _copy(uploads: Uploads, folder: Path, some: list[Path], dry: bool) -> tuple[int, list[tuple[str, str]]]:
    """How many were copied, and why others were refused; the rest is present."""
    copied, refused = 0, []
    for path in some:
        why = _refusal(folder, path)
        if why:
            refused.append((why, path.as_posix().encode("utf-8", "replace").decode()))
        elif dry:
            copied += not (uploads.folder / path).exists()
        else:
            copied += uploads.adopt(path.parts[0], path.parts[1], folder / path)
    return copied, refused


def _refusal(folder: Path, path: Path) -> str:
    container, *names = path.parts
    source = folder / path
    if len(names) != 1 or not is_upload(f"/uploads/{path}") or source.is_symlink() or not source.is_file():
        return NO_ADDRESS
    if (folder / container).is_symlink():
        return NO_ADDRESS
    if _OURS.fullmatch(container):
        return OF_OURS
    stem, _, kind = names[0].rpartition(".")
    project_id, _, rest = stem.partition("_")
    is_export = "_sec_" in stem or (project_id.isdecimal() and rest.endswith(("_json", "_csv")))
    return EXPORT if kind == "zip" and is_export else ""
