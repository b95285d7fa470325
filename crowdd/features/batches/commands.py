"""``crowdctl project import`` and ``add-media``: tasks from a table, a manifest, an export, or a folder of media.

``add-media`` brings files from the server's machine as the page does, without a network.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import gathered
from crowdd.admin_cli.output import json_option, say, watching
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.feature import House
from crowdd.features.batches.batches import MAX_KEY, Batches
from crowdd.features.batches.feature import BatchesFeature
from crowdd.features.batches.grouping import is_system_file
from crowdd.features.batches.rows import MediaFile
from crowdd.features.imports import commands as import_commands
from crowdd.features.imports.commands import Asked
from crowdd.features.media.incoming_files import Part
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.lookups import project as found
from crowdd.kernel.errors import ForbiddenError, InvalidValueError, NotFoundError, TooLargeError
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Values

PART = 8_388_608  # bytes
_SHOWN = 20  # refused files
_REFUSALS = (InvalidValueError, TooLargeError, ForbiddenError)


@attrs.frozen
class AddedMedia:
    """A batch: how many files were copied and how many were there before, those that were refused, and its page."""

    batch: int
    copied: int
    present: int
    refused: dict[str, str]
    url: str


def list_folder_files(directory: Path) -> list[Path]:
    """The files of a folder and of the folders in it, without links and files of the system. Raises NotFoundError."""
    every = (path for path in sorted(directory.rglob("*")) if path.is_file() and not path.is_symlink())
    files = [path for path in every if not is_system_file(path.relative_to(directory).as_posix())]
    if not files:
        raise NotFoundError(f"{directory} has no files.")
    return files


async def copy_files(
    house: House,
    which: str,
    directory: Path,
    files: Sequence[Path],
    choices: Mapping[str, object],
    report: Callable[[int], object],
) -> AddedMedia:
    """Copies the files that the newest open batch lacks, and closes it. ``report`` gets the number that are done."""
    row, batches = (
        await found(house[ProjectsFeature].projects, house.base.records, which),
        house[BatchesFeature].media_batches,
    )
    batch = await batches.begin_or_go_on(SYSTEM, row, choices)
    copied, present, refused = 0, 0, dict[str, str]()
    for number, path in enumerate(files, 1):
        name = path.relative_to(directory).as_posix()
        try:
            file = await batches.create(SYSTEM, row, batch, name, path.stat().st_size, _key(path, name))
            if file.state == "arriving":
                await _copy(batches, file, path)
                copied += 1
            else:
                present += 1
        except _REFUSALS as error:
            refused[name] = str(error)
        report(number)
    await batches.close(SYSTEM, row, batch)
    url = f"{house.base.settings.base_url}/project/{row['short_name']}/tasks/media/{batch}"
    return AddedMedia(batch, copied, present, refused, url)


def _key(path: Path, name: str) -> str:
    """What tells a file from others of its batch; "" leaves that to its path and size."""
    stat = path.stat()
    key = f"{stat.st_size}-{stat.st_mtime_ns}-{name}"
    return key if key.isascii() and key.isprintable() and len(key) <= MAX_KEY else ""


async def _copy(batches: Batches, file: MediaFile, path: Path) -> None:
    offset = await batches.offset(SYSTEM, file)
    with path.open("rb") as content:
        content.seek(offset)
        while offset < file.n_bytes:
            piece = content.read(min(PART, file.n_bytes - offset))
            if not piece:
                raise InvalidValueError("The file became shorter while it was read.")
            offset = await batches.append(SYSTEM, file, Part(offset, io.BytesIO(piece), len(piece)))


def describe_outcome(done: AddedMedia) -> list[str]:
    """What is said in the end."""
    shown = [f"{name}: {reason}" for name, reason in list(done.refused.items())[:_SHOWN]]
    more = [f"{len(done.refused) - _SHOWN} more were refused."] if len(done.refused) > _SHOWN else []
    return [
        f"{done.copied} files copied, {done.present} were there already, {len(done.refused)} refused.",
        *shown,
        *more,
        f"The server makes tasks of them: {done.url}",
    ]


_FATES = {"added": "added", "updated": "updated", "present": "already there", "refused": "refused"}


@attrs.frozen
class MediaChoices:
    """What becomes of the files of a folder."""

    by_name: bool
    column: str
    answers: int | None
    keep_location: bool
    keep_original: bool

    def as_json(self) -> Values:
        """The same as the page sends it."""
        return {
            "grouping": "name" if self.by_name else "file",
            "column": self.column,
            "n_answers": self.answers,
            "keep_location": self.keep_location,
            "keep_original": self.keep_original,
        }


@click.command("add-media")
@click.argument("which", metavar="PROJECT")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--by-name", is_flag=True, help="One task for files that belong together by name (0012_front, 0012_back)."
)
@click.option("--column", default="", help="Task column for the files (default: the one that the questions name).")
@click.option("--answers", type=click.IntRange(1, 1000), default=None, help="Answers per task.")
@click.option("--keep-location", is_flag=True, help="Keep the place where pictures were taken (GPS).")
@click.option("--keep-original", is_flag=True, help="Also keep pictures in full size.")
@json_option
@click.pass_obj
@gathered("choices", MediaChoices)
def add_media(config: Path | None, which: str, directory: Path, choices: MediaChoices, as_json: bool) -> None:
    """Create tasks from the pictures, sounds, videos and PDFs in the folder DIRECTORY and the folders in it.

    The files are copied, and the running server, or the next one that starts, prepares them. If the command is
    interrupted, run it again: only what is missing is copied. Files that a task of the project already has are
    skipped.
    """
    files = list_folder_files(directory)
    with watching("Copying files", len(files), quiet=as_json) as report:
        done = with_domain(config, lambda d: copy_files(d, which, directory, files, choices.as_json(), report))
    say(as_json, attrs.asdict(done), *describe_outcome(done))


@click.command("import")
@click.argument("which", metavar="PROJECT")
@click.argument("source", metavar="FILE|URL", required=False)
@click.option("--key", metavar="COLUMN", help="Find tasks by this column, and update those that are open.")
@click.option("--keep-columns", is_flag=True, help="With --key: tasks keep columns that the file does not have.")
@click.option("--n-answers", type=click.IntRange(1, 10_000), help="Answers per task if the file gives no number.")
@click.option("--sheet", metavar="NAME", help="Sheet of a workbook.")
@click.option("--on-error", type=click.Choice(["skip", "stop"]), help="Leave refused rows out, or add nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would happen, and add nothing.")
@click.option("--resume", is_flag=True, help="Continue the newest unfinished import of the project.")
@json_option
@click.pass_obj
@gathered("asked", Asked)
def import_(config: Path | None, which: str, asked: Asked, resume: bool, as_json: bool) -> None:
    """Import tasks from a table, a manifest or an export, like the import page of the project.

    FILE|URL is a file, or the public address of one. Rows that already are tasks are skipped, so you can import a
    file again. If rows are refused, nothing is added without --on-error. Ctrl-C stops it: finished rows stay, and
    --resume continues. A running server continues by itself within two minutes.
    """
    if resume == (asked.source is not None):
        raise click.UsageError("Name a file or an address, or use --resume.")
    with watching("Importing rows", quiet=as_json) as report:
        done = with_domain(config, lambda house: import_commands.run(house, which, asked, report), connections=3)
    say(as_json, done, *_imported(done))


def _imported(done: Values) -> list[str]:
    """The figures, which add up, and the first refused rows."""
    figures = " + ".join(f"{done[name]} {words}" for name, words in _FATES.items())
    end = " (nothing was imported)" if done["state"] == "preview" else ""
    rows = (f"Line {each['line']}: {each['reason']}" for each in done["refused_rows"])
    return [f"Rows: {done['rows']} = {figures}{end}", *rows]
