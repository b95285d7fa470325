"""``crowdctl project load`` and ``export``, which read and write projects as folders, and ``crowdctl template``."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict

import attrs
import click

from crowdd.admin_cli.groups import Group, gathered
from crowdd.admin_cli.output import json_option, listing, say, watching
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.feature import House
from crowdd.features.exports.exports import Exports
from crowdd.features.exports.feature import ExportsFeature
from crowdd.features.exports.formats import (
    INFOS,
    KINDS,
    ROWS,
    SEPARATORS,
    USUAL,
    WORKBOOK,
    ExportFile,
    Options,
    content_types,
)
from crowdd.features.gallery import folder_export, folder_import, folders
from crowdd.features.gallery.feature import GalleryFeature
from crowdd.features.gallery.folders import PROJECT_FILE, Missing
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.lookups import project as found
from crowdd.kernel.errors import ConflictError, NotFoundError
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Values
from crowdd.kinds.questions.text_languages import text_in

ANSWERS = "answers"
Unload = Callable[[Path, Callable[[int], None]], Awaitable[list[Path]]]


class WrittenFile(TypedDict):
    """The path and the size of a file of an export."""

    file: str
    bytes: int


async def write_files(
    exports: Exports,
    unload: Unload | None,
    folder: Path,
    wanted: Sequence[ExportFile],
    report: Callable[[int], None],
    *,
    resume: bool,
) -> list[WrittenFile]:
    """Write the files, and return the path and size of each.

    They are in the folder ``answers`` below ``folder``. ``unload`` writes the project itself beside them; None leaves
    it out. A file gets its name only when it is complete. ``resume`` keeps complete files. Without it they are refused
    before anything is written. ``report`` is called with the number of rows that are done. Raises ConflictError.
    """
    answers = folder / ANSWERS
    existing = [file.name for file in wanted if (answers / file.name).exists()]
    parts = [name for name in folder_export.PARTS if unload and (folder / name).exists()]
    if (existing or parts) and not resume:
        raise ConflictError(
            f"{folder} already contains {', '.join(parts + existing)}.", hint="To keep complete files: --resume"
        )
    written = []
    if unload is not None and PROJECT_FILE not in parts:  # it comes last
        written = await unload(folder, report)
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


_WORTH_WATCHING = 1000  # tasks
_SHOWN = 20  # values that name files which are not there


@attrs.frozen
class _Loading:
    directory: Path
    owner: str | None
    publish: bool | None
    if_empty: bool
    strict: bool


@click.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--owner", metavar="NAME", help="Owner of a new project (default: the first administrator).")
@click.option(
    "--publish/--no-publish", default=None, help="Publish the project after loading, or leave its state unchanged."
)
@click.option("--if-empty", is_flag=True, help="Do nothing if the server already has a project.")
@click.option("--strict", is_flag=True, help="Refuse a folder whose tasks name files that are not in it.")
@json_option
@click.pass_obj
@gathered("asked", _Loading)
def load(config: Path | None, asked: _Loading, as_json: bool) -> None:
    """Load a project from the folder DIRECTORY. Loading it again updates the project without duplicating tasks.

    The folder contains project.json (name, short_name, description, category, n_answers, published, info ...),
    presenter.html, results.html, tutorial.html, long_description.md, and tasks.ndjson or tasks.csv. Files that info
    names are uploaded. If a task names a file that is not in the folder, the value stays as it is and is listed on
    standard error (with --json as missing_files). With --strict, nothing is loaded in this case and the exit status
    is 1.
    """
    with _watching(asked, as_json) as (source, progress):
        done = with_domain(config, lambda house: _load(house, source, asked, progress))
    say(as_json, done, _words(done))


@attrs.frozen
class _Exporting:
    """Options are those of ``Options``; without ``types``, the whole project."""

    which: str
    target: Path
    types: tuple[str, ...]
    format_: str
    info: str
    rows: str
    task_columns: bool
    separator: str
    bom: bool
    raw: bool
    since: str | None
    resume: bool

    @property
    def options(self) -> Options:
        task = "columns" if self.task_columns else ""
        return Options(
            self.info, self.rows, self.raw, self.bom and self.since is None, task=task, separator=self.separator
        )


@click.command()
@click.argument("which", metavar="PROJECT")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write to. It is created if it does not exist.",
)
@click.option(
    "--type",
    "types",
    multiple=True,
    type=click.Choice([*KINDS, WORKBOOK]),
    help="Export only these, for example answers. Can be repeated.",
)
@click.option(
    "--format",
    "format_",
    default="json",
    show_default=True,
    type=click.Choice([*content_types()]),
    help="Format of the answers.",
)
@click.option(
    "--info",
    default="",
    type=click.Choice(["", *INFOS]),
    help="info as columns (wide: also of what is in a key), as JSON, or both.",
)
@click.option(
    "--rows",
    default="record",
    show_default=True,
    type=click.Choice([*ROWS]),
    help="Rows of answers: a record, a mark in an answer, or a task with a column for each volunteer.",
)
@click.option("--task-columns", is_flag=True, help="Add the columns of its task to each row of answers and results.")
@click.option(
    "--separator", default="comma", show_default=True, type=click.Choice([*SEPARATORS]), help="Between cells of CSV."
)
@click.option("--bom/--no-bom", default=True, show_default=True, help="Begin CSV files with a byte order mark.")
@click.option("--raw", is_flag=True, help="Do not escape texts that a spreadsheet would run as formulas.")
@click.option(
    "--since",
    metavar="CURSOR",
    help="Write only what changed after CURSOR, with deletions. An empty CURSOR begins a copy. Needs --type and"
    " --format ndjson.",
)
@click.option("--resume", is_flag=True, help="Keep complete files and write only the others.")
@json_option
@click.pass_obj
@gathered("asked", _Exporting)
def export(config: Path | None, asked: _Exporting, as_json: bool) -> None:
    """Write a project and its answers to a folder that can be loaded on this or another server.

    The folder contains what `crowdctl project load` needs: project.json, its texts, tasks.ndjson, and the files that
    these name. It does not contain the owner, the password, the blog or retired tasks. The subfolder answers contains
    tasks, answers and results as in the owner's downloads, with everything that administrators can see. With --type,
    only these are written. With --since, the last line of a file has the cursor for the next time. A file gets its
    name when it is complete, so an interrupted export can be resumed.
    """
    if asked.since is not None and not asked.types:
        raise click.UsageError("--since needs --type.")
    with watching("Writing rows", quiet=as_json) as report:
        done = with_domain(config, lambda house: _export(house, asked, report))
    say(as_json, done, *_written(asked.target / folder_export.FILES, done))


def _written(named: Path, done: list[WrittenFile]) -> list[str]:
    """A line for each file, and one for all of those that texts name."""
    lines = [f"{file['file']} ({file['bytes']} bytes)" for file in done if Path(file["file"]).parent != named]
    more = len(done) - len(lines)
    return [*lines, f"{named} ({more} files)"] if more else lines


async def _export(house: House, asked: _Exporting, report: Callable[[int], None]) -> list[WrittenFile]:
    row = await found(house[ProjectsFeature].projects, house.base.records, asked.which)
    exports, options = house[ExportsFeature].exports, asked.options
    wanted = [
        exports.file(SYSTEM, row, type_, asked.format_, options.of_type(type_), since=asked.since)
        for type_ in asked.types or USUAL
    ]
    unload = None if asked.types else partial(folder_export.unload, house[GalleryFeature].unloading, row)
    return await write_files(exports, unload, asked.target, wanted, report, resume=asked.resume)


async def _load(
    house: House,
    source: folders.Folder,
    asked: _Loading,
    progress: Callable[[int], object],
) -> dict[str, object] | None:
    if asked.if_empty and await house[ProjectsFeature].projects.any_at_all():
        return None
    done = await folder_import.load(
        house[GalleryFeature].loading, source, owner=asked.owner, publish=asked.publish, progress=progress
    )
    missing = {"values": source.missing.values, "tasks": source.missing.tasks}
    named = [attrs.asdict(one) for one in source.missing.named]
    url = f"{house.base.settings.base_url}/project/{done.short_name}/"
    return {**attrs.asdict(done), "missing_files": {**missing, "first": named}, "url": url}


@contextlib.contextmanager
def _watching(asked: _Loading, as_json: bool) -> Iterator[tuple[folders.Folder, Callable[[int], object]]]:
    """The folder, and what is to be told of progress: a bar where there is time to see it."""
    source = folders.read_folder(asked.directory)
    _require_files(source.missing, asked.strict, as_json)
    with watching("Loading tasks", source.n_tasks, quiet=as_json or source.n_tasks <= _WORTH_WATCHING) as report:
        yield source, report


def _require_files(missing: Missing, strict: bool, quiet: bool) -> None:
    """Warns of files that are not there, unless ``quiet``. Raises NotFoundError instead when ``strict``."""
    if missing.values and strict:
        raise NotFoundError(f"{missing}: {'; '.join(missing.lines(_SHOWN))}.")
    if missing.values and not quiet:
        click.echo("\n  ".join((f"Warning: {missing}:", *missing.lines(_SHOWN))), err=True)


def _words(done: dict[str, object] | None) -> str:
    if done is None:
        return "There are projects already: nothing was loaded."
    verb = "Created" if done["created"] else "Updated"
    state = "published" if done["published"] else "not published"
    return f"{verb} {done['short_name']}: {done['added']} of {done['tasks']} tasks added, {state}. {done['url']}"


_COLUMNS = ("name", "title", "group", "owner", "shipped", "hidden", "offered")


@click.group(cls=Group)
def template() -> None:
    """Manage project templates.

    TEMPLATE is a name from the list.
    """


@template.command("list")
@json_option
@click.pass_obj
def list_templates(config: Path | None, as_json: bool) -> None:
    """List the templates: those of owners, of the site, and those that come with crowdd."""
    listing(as_json, with_domain(config, _list), _COLUMNS)


@template.command()
@click.argument("directory", type=click.Path(exists=True, path_type=Path))
@json_option
@click.pass_obj
def add(config: Path | None, directory: Path, as_json: bool) -> None:
    """Add a template of the site from the project folder DIRECTORY, or from a zip archive of one.

    The folder contains project.json with info.questions, tasks.ndjson or tasks.csv with sample tasks, the files that
    they name, and template.json (group, title, description, keywords).
    """
    made = with_domain(config, lambda house: _add(house, directory))
    say(as_json, made, f"Added {made['title']} as {made['name']}.")


@template.command()
@click.argument("which", metavar="TEMPLATE")
@yes_option
@json_option
@click.pass_obj
def remove(config: Path | None, which: str, yes: bool, as_json: bool) -> None:
    """Delete a template, or hide one that comes with crowdd. Projects made from it stay as they are."""
    confirm(yes, f"The template {which} will be removed.")
    with_domain(config, lambda house: _remove(house, which))
    say(as_json, {"name": which}, f"{which} is removed.")


async def _list(house: House) -> list[Values]:
    templates = await house[GalleryFeature].gallery.all(SYSTEM)
    return [
        {
            "name": each.name, "title": text_in(each.card.title, "en"), "group": each.card.group, "owner": each.owner,
            "shipped": each.shipped, "hidden": each.hidden, "offered": each.offered,
        }
        for each in templates
    ]  # fmt: skip


async def _add(house: House, path: Path) -> Values:
    maker = house[GalleryFeature].template_maker
    new = await (maker.of_folder(path) if path.is_dir() else maker.of_archive(path))
    name = await house[GalleryFeature].gallery.add(SYSTEM, new, of_site=True)
    return {"name": name, "title": text_in(new.card.title, "en")}


async def _remove(house: House, name: str) -> None:
    try:
        await house[GalleryFeature].gallery.remove(SYSTEM, name)
    except NotFoundError:
        raise NotFoundError(f"Template {name} does not exist.") from None
