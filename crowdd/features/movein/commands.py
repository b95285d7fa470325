"""``crowdctl import-zooniverse`` and ``import-pybossa``: bring projects from Zooniverse, or a whole PyBossa server.

From Zooniverse, subjects and classifications of a project become tasks and answers. A PyBossa server becomes the
content of a new site.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import gathered
from crowdd.admin_cli.output import Progress, json_option, say
from crowdd.admin_cli.runtime import reactor, with_domain
from crowdd.core.feature import House
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.imports import commands as import_commands
from crowdd.features.imports.commands import Asked
from crowdd.features.movein.figures import Comparison
from crowdd.features.movein.runner import Moved, MoveIn
from crowdd.features.movein.statements import Pybossa
from crowdd.features.movein.zooniverse import Export, Sums
from crowdd.features.webhooks.feature import WebhooksFeature
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.values import Values

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_ANSWERS = "classifications"
_NOT_KEPT = (
    "These do not come over: accounts, talk pages, workflows, subject sets as such, gold standard flags, and metadata"
    " of classifications (browser, screen size)."
)


@click.command("import-zooniverse")
@click.argument("project")
@click.option("--subjects", required=True, type=_FILE, help="The subject export (CSV).")
@click.option("--classifications", type=_FILE, help="The classification export (CSV).")
@click.option("--workflow", required=True, help="Number of the workflow to import.")
@click.option("--n-answers", default=15, show_default=True, help="Answers per task for subjects that are not retired.")
@click.option("--dry-run", is_flag=True, help="Report what would come over and what would not. Change nothing.")
@json_option
@click.pass_obj
@gathered("export", Export)
def import_zooniverse(
    config: Path | None, project: str, export: Export, n_answers: int, dry_run: bool, as_json: bool
) -> None:
    """Import the data exports of a workflow of Zooniverse into PROJECT.

    Subjects become tasks and classifications become answers. No accounts are created: each volunteer becomes an
    external volunteer of the project under a random name. A second time, rows that are there already are left alone,
    and new ones are added. The report says, for both files, how many rows were read, added, present and refused, and
    why.
    """
    progress = Progress(quiet=as_json)

    async def work(house: House) -> list[Values]:
        with tempfile.TemporaryDirectory(prefix="crowdd-zooniverse-") as folder:
            return await _import(house, project, _convert(export, Path(folder), n_answers), dry_run, progress)

    file_reports = with_domain(config, work)
    progress.end()
    say(
        as_json,
        {"dry_run": dry_run, "files": file_reports, "not_kept": _NOT_KEPT},
        *_describe_files(file_reports, dry_run),
    )


def _convert(export: Export, folder: Path, n_answers: int) -> dict[Path, Sums]:
    """The files of tasks and of answers that this writes, in the order in which they are imported."""
    tasks, answers = folder / "subjects.ndjson", folder / f"{_ANSWERS}.ndjson"
    with tasks.open("wb") as out, answers.open("wb") as more:
        subjects = export.write_tasks(out, n_answers)
        return {tasks: subjects, answers: export.write_answers(more, subjects.subjects)}


async def _import(
    house: House, project: str, files: dict[Path, Sums], dry_run: bool, progress: Progress
) -> list[Values]:
    done = []
    for path, sums in files.items():
        figures: Values = {}
        # Whether an answer fits can be said only when its task is there.
        if sums.converted and not (dry_run and path.stem == _ANSWERS):
            asked = Asked(str(path), on_error="skip", dry_run=dry_run)
            figures = await import_commands.run(house, project, asked, partial(progress, path.stem))
        done.append(_figures(path.stem, sums, figures))
    return done


def _figures(name: str, sums: Sums, figures: Values) -> Values:
    """read = added + present + refused."""
    refused = sums.read - sums.converted
    added = figures["added"] if figures else sums.converted
    present = figures.get("present", 0) + figures.get("updated", 0) + figures.get("kept", 0)
    reasons = [{"sentence": why, "rows": n, "first": sums.first[why]} for why, n in sums.reasons.items()]
    return {
        "file": name,
        "read": sums.read,
        "added": added,
        "present": present,
        "refused": refused + (sums.converted - added - present if figures else 0),
        "reasons": reasons,
        "refused_rows": figures.get("refused_rows", []),
    }


def _describe_files(file_reports: list[Values], dry_run: bool) -> list[str]:
    lines = ["Dry run: nothing was changed."] if dry_run else []
    for each in file_reports:
        sums = " + ".join(f"{each[name]:,} {name}" for name in ("added", "present", "refused"))
        lines.append(f"{each['file']}: {each['read']:,} read = {sums}")
        for reason in each["reasons"]:
            more = ", …" if reason["rows"] > len(reason["first"]) else ""
            lines.append(f"  {reason['rows']:,} refused: {reason['sentence']} ({', '.join(reason['first'])}{more})")
        lines += [f"  line {row['line']}: {row['reason']}" for row in each["refused_rows"]]
    return [*lines, _NOT_KEPT]


@click.command("import-pybossa")
@click.option("--dsn", required=True, envvar="PYBOSSA_DSN", help="PyBossa's database, for example dbname=pybossa.")
@click.option(
    "--uploads",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="PyBossa's folder of uploads (UPLOAD_FOLDER).",
)
@click.option("--dry-run", is_flag=True, help="Report what would come over and what would not. Change nothing.")
@json_option
@click.pass_obj
def import_pybossa(config: Path | None, dsn: str, uploads: Path | None, dry_run: bool, as_json: bool) -> None:
    """Move a PyBossa server in: accounts, projects, tasks, answers, results, texts and uploads, with the same ids.

    The site must be new: no account and no project. Users keep their passwords and API keys. PyBossa's database is only
    read. If the command is interrupted, run it again: it continues. Once it has ended, it compares both databases and
    adds nothing. The report says, for each table, how many rows were read, added, present and refused, and why.
    """
    progress = Progress(quiet=as_json)
    with closing(Pybossa(dsn)) as source:
        moved = with_domain(config, lambda house: _move(house, source, uploads, dry_run, progress))
    progress.end()
    say(as_json, attrs.asdict(moved), *_describe_move(moved))


async def _move(house: House, source: Pybossa, uploads: Path | None, dry_run: bool, progress: Progress) -> Moved:
    aside = WorkerThread(reactor).do
    moving = MoveIn(
        house.base.db,
        house.base.secrets,
        house[AccountsFeature].passwords,
        house[WebhooksFeature].webhooks,
        house.base.uploads,
        aside,
    )
    return await moving.run(source, uploads, progress, dry_run=dry_run)


def _describe_move(moved: Moved) -> list[str]:
    """The report for people."""
    lines = ["Dry run: nothing was changed."] if moved.dry_run else []
    lines += ["It had ended before: the rows were compared only."] if moved.before else []
    for table in moved.tables:
        lines += [_sums(table), *(f"  {_remark(remark)}" for remark in table["remarks"])]
    for name, rows in moved.not_read["tables"].items():
        lines.append(f"{name}: {rows:,} rows are not moved.")
    for name, columns in moved.not_read["columns"].items():
        lines.append(f"{name}: these columns are not moved: {', '.join(columns)}.")
    return [*lines, *_describe_figures(moved.compared)]


def _describe_figures(compared: Comparison) -> list[str]:
    """What agrees, what the rows that were refused explain, and what nobody expects."""
    explained = f"{compared.projects_explained:,} lack exactly the rows that were refused"
    other_projects = compared.projects_differ - compared.projects_explained
    other_users = compared.users_differ - compared.users_explained
    lines = [
        f"Figures of projects: {compared.projects_same:,} agree, {explained}, {other_projects:,} differ otherwise."
        f" All together lack {compared.missing_tasks:,} tasks and {compared.missing_answers:,} answers.",
        f"Figures of users: {compared.users_same:,} agree, {compared.users_explained:,} lack exactly answers that were"
        f" refused, or did not come over, {other_users:,} differ otherwise.",
    ]
    unexplained = [str(each.id) for each in compared.projects if not each.explained]
    return [*lines, f"Look at these projects first: {', '.join(unexplained)}."] if unexplained else lines


def _sums(table: Values) -> str:
    parts = " + ".join(f"{table[name]:,} {name}" for name in ("added", "present", "refused"))
    sums = f"{table['read']:,} read = {parts}"
    return f"{table['table']}: {sums if table['read'] else str(table['added']) + ' added'}"


def _remark(remark: Values) -> str:
    first = ", ".join(map(str, remark["first"]))
    more = ", …" if remark["rows"] > len(remark["first"]) else ""
    return f"{remark['rows']:,} {'refused' if remark['refused'] else 'changed'}: {remark['sentence']} ({first}{more})"
