"""Files of a project, written to a folder part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from crowdd.domain.domain import Domain
from crowdd.domain.exports import PART, File
from crowdd.errors import ConflictError
from crowdd.storage.database import Row
from crowdd.values import SYSTEM


async def export(
    domain: Domain,
    row: Row,
    folder: Path,
    files: Sequence[tuple[str, str]],
    told: Callable[[int], None],
    *,
    raw: bool,
    resume: bool,
) -> list[dict[str, Any]]:
    """Writes each of the files (type and format) of a project; what there is of each then: file and bytes.

    A file has its name only when it is whole. ``resume`` keeps those; without it they are refused before anything is
    written. ``told`` hears how many rows are done. Raises ConflictError.
    """
    wanted = [domain.exports.file(SYSTEM, row, type_, format_, raw=raw) for type_, format_ in files]
    there = [file.name for file in wanted if (folder / file.name).exists()]
    if there and not resume:
        raise ConflictError(f"{folder} has {', '.join(there)} already.", hint="--resume keeps what is whole.")
    folder.mkdir(parents=True, exist_ok=True)
    done = 0
    for file in wanted:
        if file.name not in there:
            done = await _write(folder, file, done, told)
    return [{"file": str(folder / file.name), "bytes": (folder / file.name).stat().st_size} for file in wanted]


async def _write(folder: Path, file: File, rows: int, told: Callable[[int], None]) -> int:
    draft = folder / f"{file.name}.part"
    with draft.open("wb") as out:
        async for part in file.parts:
            out.write(part)
            rows += PART
            told(rows)
    draft.replace(folder / file.name)
    return rows
