"""A project written to a folder: what can be loaded again, and its answers, part by part."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypedDict

from crowdd.domain.transfer import folder_export
from crowdd.domain.transfer.exported.export_file import ExportFile, Options
from crowdd.domain.transfer.exports import Exports
from crowdd.domain.transfer.project_folder import PROJECT_FILE
from crowdd.errors import ConflictError
from crowdd.requester import SYSTEM
from crowdd.storage.projects.rows import ProjectPage

ANSWERS = "answers"
Unload = Callable[[ProjectPage, Path, Callable[[int], None]], Awaitable[list[Path]]]


class WrittenFile(TypedDict):
    """The path and the size of a file of an export."""

    file: str
    bytes: int


async def export(
    exports: Exports,
    unload: Unload | None,
    row: ProjectPage,
    folder: Path,
    files: Sequence[tuple[str, str]],
    report: Callable[[int], None],
    options: Options,
    *,
    resume: bool,
    since: str | None = None,
) -> list[WrittenFile]:
    """Write each of the files (type and format) of a project, and return the path and size of each.

    They are in the folder ``answers`` below ``folder``. ``unload`` writes the project itself beside them; None leaves
    it out. A file gets its name only when it is complete. ``resume`` keeps complete files. Without it they are refused
    before anything is written. ``since``: only what changed behind this cursor. ``report`` is called with the number of
    rows that are done. Raises ConflictError.
    """
    answers = folder / ANSWERS
    wanted = [exports.file(SYSTEM, row, type_, format_, options, since=since) for type_, format_ in files]
    existing = [file.name for file in wanted if (answers / file.name).exists()]
    parts = [name for name in folder_export.PARTS if unload and (folder / name).exists()]
    if (existing or parts) and not resume:
        raise ConflictError(
            f"{folder} already contains {', '.join(parts + existing)}.", hint="To keep complete files: --resume"
        )
    written = []
    if unload is not None and PROJECT_FILE not in parts:  # it comes last
        written = await unload(row, folder, report)
    answers.mkdir(parents=True, exist_ok=True)
    done = 0
    for file in wanted:
        if file.name not in existing:
            done = await _write(exports, answers, file, done, report)
    written += [answers / file.name for file in wanted]
    return [WrittenFile(file=str(path), bytes=path.stat().st_size) for path in written]


async def _write(exports: Exports, folder: Path, file: ExportFile, rows: int, report: Callable[[int], None]) -> int:
    draft = folder / f"{file.name}.part"
    with draft.open("wb") as out:

        def take(part: bytes, more: int) -> None:
            nonlocal rows
            out.write(part)
            report(rows := rows + more)

        await exports.write(file, take)
    draft.replace(folder / file.name)
    return rows
