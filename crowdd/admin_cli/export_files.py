"""A project written to a folder: what can be loaded again, and its answers, part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from crowdd.domain.server.services import Services
from crowdd.domain.transfer import folder_export
from crowdd.domain.transfer.exports import ExportFile
from crowdd.domain.transfer.project_folder import PROJECT_FILE
from crowdd.errors import ConflictError
from crowdd.storage.database import Row
from crowdd.values import SYSTEM

ANSWERS = "answers"


async def export(
    services: Services,
    row: Row,
    folder: Path,
    files: Sequence[tuple[str, str]],
    told: Callable[[int], None],
    *,
    whole: bool,
    raw: bool,
    resume: bool,
) -> list[dict[str, Any]]:
    """Writes each of the files (type and format) of a project; what there is of each then: file and bytes.

    They lie in ``answers`` below the folder; ``whole``: with the project beside them, as it can be loaded. A file has
    its name only when it is whole. ``resume`` keeps those; without it they are refused before anything is written.
    ``told`` hears how many rows are done. Raises ConflictError.
    """
    answers = folder / ANSWERS
    wanted = [services.exports.file(SYSTEM, row, type_, format_, raw=raw) for type_, format_ in files]
    there = [file.name for file in wanted if (answers / file.name).exists()]
    parts = [name for name in folder_export.PARTS if whole and (folder / name).exists()]
    if (there or parts) and not resume:
        raise ConflictError(
            f"{folder} has {', '.join(parts + there)} already.", hint="To keep complete files: --resume"
        )
    written = []
    if whole and PROJECT_FILE not in parts:  # it comes last
        written = await folder_export.unload(services, row, folder, told)
    answers.mkdir(parents=True, exist_ok=True)
    done = 0
    for file in wanted:
        if file.name not in there:
            done = await _write(services, answers, file, done, told)
    written += [answers / file.name for file in wanted]
    return [{"file": str(path), "bytes": path.stat().st_size} for path in written]


async def _write(services: Services, folder: Path, file: ExportFile, rows: int, told: Callable[[int], None]) -> int:
    draft = folder / f"{file.name}.part"
    with draft.open("wb") as out:

        def take(part: bytes, more: int) -> None:
            nonlocal rows
            out.write(part)
            told(rows := rows + more)

        await services.exports.write(file, take)
    draft.replace(folder / file.name)
    return rows
