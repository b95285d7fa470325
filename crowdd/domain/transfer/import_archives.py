"""Zip archives with one file of tasks or answers in them, as PyBossa's export has it. Everything waits for the disk."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from crowdd.domain.transfer.task_files.containers import (
    BROKEN,
    ZIP,
    is_darwin_core,
    observation_tables,
    require_small_directory,
)
from crowdd.errors import InvalidValueError, TooLargeError
from crowdd.languages import _

_SUFFIXES = (".json", ".csv", ".tsv", ".ndjson", ".jsonl")
_PIECE = 65_536


def unpack(path: Path, max_bytes: int) -> str:
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
