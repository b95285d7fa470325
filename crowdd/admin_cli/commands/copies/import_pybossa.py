"""``crowdctl import-pybossa``: everything of a PyBossa server becomes the content of a new site."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.commands.copies.backup import Progress
from crowdd.admin_cli.output import json_option, say
from crowdd.admin_cli.runtime import reactor, with_domain
from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.domain.server.services import Services
from crowdd.domain.transfer.move_in.runner import Moved, MoveIn
from crowdd.storage.transfer.move_in.pybossa import Pybossa
from crowdd.values import Values


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
        moved = with_domain(config, lambda services: _move(services, source, uploads, dry_run, progress))
    progress.end()
    say(as_json, attrs.asdict(moved), *_words(moved))


async def _move(services: Services, source: Pybossa, uploads: Path | None, dry_run: bool, progress: Progress) -> Moved:
    aside = WorkerThread(reactor).do
    moving = MoveIn(services.db, services.secrets, services.passwords, services.webhooks, services.uploads, aside)
    return await moving.run(source, uploads, progress, dry_run=dry_run)


def _words(moved: Moved) -> list[str]:
    """The report for people."""
    lines = ["Dry run: nothing was changed."] if moved.dry_run else []
    lines += ["It had ended before: the rows were compared only."] if moved.before else []
    for table in moved.tables:
        lines += [_sums(table), *(f"  {_remark(remark)}" for remark in table["remarks"])]
    for name, rows in moved.not_read["tables"].items():
        lines.append(f"{name}: {rows:,} rows are not moved.")
    for name, columns in moved.not_read["columns"].items():
        lines.append(f"{name}: these columns are not moved: {', '.join(columns)}.")
    comparison = moved.compared
    lines.append(
        f"Figures: {comparison.projects_same:,} projects agree, {comparison.projects_differ:,} differ"
        f" ({comparison.missing_tasks:,} tasks and {comparison.missing_answers:,} answers fewer);"
        f" {comparison.users_same:,} users agree, {comparison.users_differ:,} differ."
    )
    return lines


def _sums(table: Values) -> str:
    parts = " + ".join(f"{table[name]:,} {name}" for name in ("added", "present", "refused"))
    sums = f"{table['read']:,} read = {parts}"
    return f"{table['table']}: {sums if table['read'] else str(table['added']) + ' added'}"


def _remark(remark: Values) -> str:
    first = ", ".join(map(str, remark["first"]))
    more = ", …" if remark["rows"] > len(remark["first"]) else ""
    return f"{remark['rows']:,} {'refused' if remark['refused'] else 'changed'}: {remark['sentence']} ({first}{more})"
