"""``crowdctl project``: whole projects."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

import attrs
import click

from crowdd.admin_cli import export_files, import_files, media_folder
from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.lookups import account, category, given
from crowdd.admin_cli.lookups import project as found
from crowdd.admin_cli.output import details, json_option, listing, say, watching
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.services import Services
from crowdd.domain.transfer import folder_export, folder_import, project_folder
from crowdd.domain.transfer.exports import FORMATS, KINDS
from crowdd.domain.transfer.missing_files import Missing
from crowdd.errors import ConflictError, NotFoundError
from crowdd.kinds.project import PROJECT
from crowdd.requester import SYSTEM
from crowdd.storage.core.listing import Query, equal
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

_WORTH_WATCHING = 1000  # tasks
_LIST = (
    "id", "short_name", "name", "owner", "published", "featured",
    "n_tasks", "n_completed_tasks", "n_task_runs", "n_volunteers", "overall_progress", "last_activity_raw",
)  # fmt: skip
_SHOW = (
    *_LIST, "description", "created", "updated", "owner_id", "owners_ids", "category_id", "n_results", "n_blogposts",
    "allow_anonymous_contributors", "zip_download", "webhook",
)  # fmt: skip
_PAGE = 100  # rows of a list at most
_FATES = {"added": "added", "updated": "updated", "present": "already there", "refused": "refused"}
_SHOWN = 20  # values that name files which are not there


@click.group(cls=Group)
def project() -> None:
    """Manage projects: load, export, publish, pause, feature, transfer and delete them.

    PROJECT is an id or a short name.
    """


class Chosen(TypedDict):
    """Which projects are listed; None leaves it open."""

    owner: str | None
    category_name: str | None
    published: bool | None
    featured: bool | None
    after: int
    limit: int


class Importing(TypedDict):
    """What is imported; None leaves it as usual."""

    source: str | None
    key: str | None
    n_answers: int | None
    sheet: str | None
    on_error: str | None
    dry_run: bool


@project.command("list")
@click.option("--owner", metavar="WHO", help="Only projects of this account (id, user name or e-mail address).")
@click.option(
    "--category", "category_name", metavar="CATEGORY", help="Only projects in this category (id or short name)."
)
@click.option("--published/--not-published", default=None, help="Only published or only unpublished projects.")
@click.option("--featured/--not-featured", default=None, help="Only featured or only other projects.")
@click.option("--after", type=int, default=0, metavar="ID", help="Only ids above this one (for the next page).")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="Maximum number of rows.")
@json_option
@click.pass_obj
def list_projects(config: Path | None, /, as_json: bool, **chosen: Unpack[Chosen]) -> None:
    """List the projects by id, including drafts."""
    listing(as_json, with_domain(config, lambda services: _list(services, chosen)), _LIST)


@project.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def show(config: Path | None, which: str, as_json: bool) -> None:
    """Show the owner and progress of a project, and what is missing before it can be published."""
    details(as_json, with_domain(config, lambda services: _show(services, which)))


@project.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def publish(config: Path | None, which: str, as_json: bool) -> None:
    """Publish a project. Trial answers are deleted the first time."""
    row, changed = with_domain(config, lambda services: _opened(services, which))
    _say_state(as_json, row, "published", changed)


@project.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def pause(config: Path | None, which: str, as_json: bool) -> None:
    """Pause a project. Answers in progress still count."""
    row, changed = with_domain(config, lambda services: _paused(services, which))
    _say_state(as_json, row, "not published", changed)


@project.command()
@click.argument("which", metavar="PROJECT")
@click.option("--remove", is_flag=True, help="Stop featuring the project.")
@json_option
@click.pass_obj
def feature(config: Path | None, which: str, remove: bool, as_json: bool) -> None:
    """Feature a project: show it first in the list of projects."""
    row, changed = with_domain(config, lambda services: _featured(services, which, not remove))
    _say_state(as_json, row, "not featured" if remove else "featured", changed)


@project.command()
@click.argument("which", metavar="PROJECT")
@click.option("--to", "person", metavar="WHO", required=True, help="Id, user name or e-mail address of the new owner.")
@click.option("--keep-owners", is_flag=True, help="Keep the previous owner and co-owners as co-owners.")
@yes_option
@json_option
@click.pass_obj
def transfer(config: Path | None, which: str, person: str, keep_owners: bool, yes: bool, as_json: bool) -> None:
    """Transfer a project to another account. Previous owners lose their rights unless you use --keep-owners."""
    confirm(yes, f"The project {which} will belong to {person}.")
    done = with_domain(config, lambda services: _transfer(services, which, person, keep_owners))
    say(as_json, done, f"{done['short_name']} belongs to {done['owner']} now.")


@project.command()
@click.argument("which", metavar="PROJECT")
@yes_option
@json_option
@click.pass_obj
def delete(config: Path | None, which: str, yes: bool, as_json: bool) -> None:
    """Delete a project with its tasks, answers, results and files.

    It disappears at once. The running server, or the next one that starts, deletes the data of a large project in the
    background.
    """
    confirm(yes, f"The project {which} and everything in it will be deleted.")
    row = with_domain(config, lambda services: _delete(services, which))
    say(as_json, {"id": row["id"], "short_name": row["short_name"]}, f"{row['short_name']} is deleted.")


@project.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--owner", metavar="NAME", help="Owner of a new project (default: the first administrator).")
@click.option(
    "--publish/--no-publish", default=None, help="Publish the project after loading, or leave its state unchanged."
)
@click.option("--if-empty", is_flag=True, help="Do nothing if the server already has a project.")
@click.option("--strict", is_flag=True, help="Refuse a folder whose tasks name files that are not in it.")
@json_option
@click.pass_obj
def load(
    config: Path | None,
    directory: Path,
    owner: str | None,
    publish: bool | None,
    if_empty: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Load a project from the folder DIRECTORY. Loading it again updates the project without duplicating tasks.

    The folder contains project.json (name, short_name, description, category, n_answers, published, info ...),
    presenter.html, results.html, tutorial.html, long_description.md, and tasks.ndjson or tasks.csv. Files that info
    names are uploaded. If a task names a file that is not in the folder, the value stays as it is and is listed on
    standard error (with --json as missing_files). With --strict, nothing is loaded in this case and the exit status
    is 1.
    """
    with _watching(directory, as_json, strict) as (source, progress):
        done = with_domain(config, lambda services: _load(services, source, if_empty, owner, publish, progress))
    say(as_json, done, _words(done))


@project.command("add-media")
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
    """Make tasks of the pictures, sounds, videos and PDFs in the folder DIRECTORY and the folders in it.

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


@project.command()
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
    type=click.Choice([*KINDS]),
    help="Export only tasks, answers or results. Can be repeated.",
)
@click.option(
    "--format",
    "format_",
    default="json",
    show_default=True,
    type=click.Choice([*FORMATS]),
    help="Format of the answers.",
)
@click.option("--raw", is_flag=True, help="Do not escape texts that a spreadsheet would run as formulas.")
@click.option("--resume", is_flag=True, help="Keep complete files and write only the others.")
@json_option
@click.pass_obj
def export(
    config: Path | None,
    which: str,
    target: Path,
    types: tuple[str, ...],
    format_: str,
    raw: bool,
    resume: bool,
    as_json: bool,
) -> None:
    """Write a project and its answers to a folder that can be loaded on this or another server.

    The folder contains what `crowdctl project load` needs: project.json, its texts, tasks.ndjson, and the files that
    these name. It does not contain the owner, the password, the blog or retired tasks. The subfolder answers contains
    tasks, answers and results as in the owner's downloads, with everything that administrators can see. With --type,
    only these are written. A file gets its name when it is complete, so an interrupted export can be resumed.
    """
    files = [(type_, format_) for type_ in types or KINDS]
    with watching("Writing rows", quiet=as_json) as report:
        done = with_domain(
            config,
            lambda d: _export(d, which, target, files, report, whole=not types, raw=raw, resume=resume),
        )
    say(as_json, done, *_written(target / folder_export.FILES, done))


@project.command("import")
@click.argument("which", metavar="PROJECT")
@click.argument("source", metavar="FILE|URL", required=False)
@click.option("--key", metavar="COLUMN", help="Find tasks by this column, and update those that are open.")
@click.option("--n-answers", type=click.IntRange(1, 10_000), help="Answers per task where the file does not say it.")
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


def _written(named: Path, done: list[export_files.WrittenFile]) -> list[str]:
    """A line for each file, and one for all of those that texts name."""
    lines = [f"{file['file']} ({file['bytes']} bytes)" for file in done if Path(file["file"]).parent != named]
    more = len(done) - len(lines)
    return [*lines, f"{named} ({more} files)"] if more else lines


async def _export(
    services: Services,
    which: str,
    target: Path,
    files: list[tuple[str, str]],
    report: Callable[[int], None],
    *,
    whole: bool,
    raw: bool,
    resume: bool,
) -> list[export_files.WrittenFile]:
    row, unload = await found(services.projects, services.records, which), partial(folder_export.unload, services)
    return await export_files.export(
        services.exports, unload if whole else None, row, target, files, report, raw=raw, resume=resume
    )


async def _load(
    services: Services,
    source: project_folder.Folder,
    if_empty: bool,
    owner: str | None,
    publish: bool | None,
    progress: Callable[[int], object],
) -> dict[str, object] | None:
    if if_empty and await services.projects.any_at_all():
        return None
    done = await folder_import.load(services, source, owner=owner, publish=publish, progress=progress)
    missing = {"values": source.missing.values, "tasks": source.missing.tasks}
    named = [attrs.asdict(one) for one in source.missing.named]
    url = f"{services.settings.base_url}/project/{done.short_name}/"
    return {**attrs.asdict(done), "missing_files": {**missing, "first": named}, "url": url}


@contextlib.contextmanager
def _watching(
    directory: Path, as_json: bool, strict: bool
) -> Iterator[tuple[project_folder.Folder, Callable[[int], object]]]:
    """The folder, and what is to be told of progress: a bar where there is time to see it."""
    source = project_folder.read(directory)
    _require_files(source.missing, strict, as_json)
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


async def _list(services: Services, chosen: Chosen) -> list[Values]:
    """Page by page: a list of the API has a hundred rows at most."""
    wanted: dict[str, object] = {**given(published=chosen["published"], featured=chosen["featured"])}
    if chosen["owner"] is not None:
        wanted["owner_id"] = (await account(services.accounts, chosen["owner"]))["id"]
    if chosen["category_name"] is not None:
        wanted["category_id"] = (await category(services.administration, chosen["category_name"]))["id"]
    limit = chosen["limit"]
    rows: list[Values] = []
    while len(rows) < limit:
        last_id = rows[-1]["id"] if rows else chosen["after"]
        query = Query(PROJECT, equal(PROJECT, **wanted), limit=min(_PAGE, limit - len(rows)), last_id=last_id)
        more = await services.records.list(query, SYSTEM)
        if not more:
            break
        rows += more
    return rows


async def _show(services: Services, which: str) -> dict[str, object]:
    row = await found(services.projects, services.records, which)
    view = await services.records.get(PROJECT, SYSTEM, row["id"])
    ready = await services.projects.readiness(row)
    lacks = [name for name, there in (("presenter", ready.presenter), ("tasks", ready.tasks)) if not there]
    address = f"{services.settings.base_url}/project/{row['short_name']}/"
    more = {"paused": not row["published"] and row["first_published"] is not None, "locked": row["lock_id"] is not None}
    return {**{name: view[name] for name in _SHOW}, **more, "lacks": lacks, "url": address}


async def _opened(services: Services, which: str) -> tuple[ProjectPage, bool]:
    row = await found(services.projects, services.records, which)
    return row, await services.projects.publish(row, SYSTEM)


async def _paused(services: Services, which: str) -> tuple[ProjectPage, bool]:
    row = await found(services.projects, services.records, which)
    return row, await services.projects.pause(row, SYSTEM)


async def _featured(services: Services, which: str, featured: bool) -> tuple[ProjectPage, bool]:
    row = await found(services.projects, services.records, which)
    if row["featured"] is not featured:
        await services.records.change(PROJECT, SYSTEM, row["id"], {"featured": featured})
    return row, row["featured"] is not featured


def _say_state(as_json: bool, row: ProjectPage, state: str, changed: bool) -> None:
    done = {"id": row["id"], "short_name": row["short_name"], "changed": changed}
    say(as_json, done, f"{row['short_name']} is {state}{' now' if changed else ' already'}.")


async def _transfer(services: Services, which: str, person: str, keep: bool) -> dict[str, object]:
    row, to = await found(services.projects, services.records, which), await account(services.accounts, person)
    if to["restrict"]:
        raise ConflictError(f"{to['name']} is blocked and cannot own projects.")
    owner = await services.ownership.transfer(row, to["email_addr"], keep, SYSTEM)
    return {"id": row["id"], "short_name": row["short_name"], "owner": owner}


async def _delete(services: Services, which: str) -> ProjectPage:
    row = await found(services.projects, services.records, which)
    await services.records.delete(PROJECT, SYSTEM, row["id"])
    return row
