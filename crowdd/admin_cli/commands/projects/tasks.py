"""``crowdctl project import`` and ``add-media``: tasks from a table, a manifest, an export, or a folder of media."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

import attrs
import click

from crowdd.admin_cli import import_files, media_folder
from crowdd.admin_cli.output import json_option, say, watching
from crowdd.admin_cli.runtime import with_domain
from crowdd.values import Values

_FATES = {"added": "added", "updated": "updated", "present": "already there", "refused": "refused"}


class Importing(TypedDict):
    """What is imported; None leaves it as usual."""

    source: str | None
    key: str | None
    keep_columns: bool
    n_answers: int | None
    sheet: str | None
    on_error: str | None
    dry_run: bool


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
def add_media(
    config: Path | None,
    which: str,
    directory: Path,
    by_name: bool,
    column: str,
    answers: int | None,
    keep_location: bool,
    keep_original: bool,
    as_json: bool,
) -> None:
    """Create tasks from the pictures, sounds, videos and PDFs in the folder DIRECTORY and the folders in it.

    The files are copied, and the running server, or the next one that starts, prepares them. If the command is
    interrupted, run it again: only what is missing is copied. Files that a task of the project already has are
    skipped.
    """
    choices = {
        "grouping": "name" if by_name else "file",
        "column": column,
        "n_answers": answers,
        "keep_location": keep_location,
        "keep_original": keep_original,
    }
    files = media_folder.files_in(directory)
    with watching("Copying files", len(files), quiet=as_json) as report:
        done = with_domain(config, lambda d: media_folder.add(d, which, directory, files, choices, report))
    say(as_json, attrs.asdict(done), *media_folder.words(done))


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
def import_(config: Path | None, which: str, resume: bool, as_json: bool, **asked: Unpack[Importing]) -> None:
    """Import tasks from a table, a manifest or an export, like the import page of the project.

    FILE|URL is a file, or the public address of one. Rows that already are tasks are skipped, so you can import a
    file again. If rows are refused, nothing is added without --on-error. Ctrl-C stops it: finished rows stay, and
    --resume continues. A running server continues by itself within two minutes.
    """
    if resume == (asked["source"] is not None):
        raise click.UsageError("Name a file or an address, or use --resume.")
    with watching("Importing rows", quiet=as_json) as report:
        done = with_domain(
            config,
            lambda services: import_files.run(services, which, import_files.Asked(**asked), report),
            connections=3,
        )
    say(as_json, done, *_imported(done))


def _imported(done: Values) -> list[str]:
    """The figures, which add up, and the first refused rows."""
    figures = " + ".join(f"{done[name]} {words}" for name, words in _FATES.items())
    end = " (nothing was imported)" if done["state"] == "preview" else ""
    rows = (f"Line {each['line']}: {each['reason']}" for each in done["refused_rows"])
    return [f"Rows: {done['rows']} = {figures}{end}", *rows]
