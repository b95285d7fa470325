"""``crowdctl import-zooniverse``: subjects and classifications of a Zooniverse project become tasks and answers."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import click

from crowdd.admin_cli import import_files
from crowdd.admin_cli.commands.copies.backup import Progress
from crowdd.admin_cli.import_files import Asked
from crowdd.admin_cli.output import json_option, say
from crowdd.admin_cli.runtime import with_domain
from crowdd.domain.server.services import Services
from crowdd.domain.transfer.zooniverse.conversion import Export, Sums
from crowdd.values import Values

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
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
def import_zooniverse(
    config: Path | None,
    project: str,
    subjects: Path,
    classifications: Path | None,
    workflow: str,
    n_answers: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import the data exports of a workflow of Zooniverse into PROJECT.

    Subjects become tasks and classifications become answers. No accounts are created: each volunteer becomes an
    external volunteer of the project under a random name. A second time, rows that are there already are left alone,
    and new ones are added. The report says, for both files, how many rows were read, added, present and refused, and
    why.
    """
    export, progress = Export(subjects, classifications, workflow), Progress(quiet=as_json)

    async def work(services: Services) -> list[Values]:
        with tempfile.TemporaryDirectory(prefix="crowdd-zooniverse-") as folder:
            return await _import(services, project, export, Path(folder), n_answers, dry_run, progress)

    file_reports = with_domain(config, work)
    progress.end()
    say(as_json, {"dry_run": dry_run, "files": file_reports, "not_kept": _NOT_KEPT}, *_words(file_reports, dry_run))


async def _import(
    services: Services, project: str, export: Export, folder: Path, n_answers: int, dry_run: bool, progress: Progress
) -> list[Values]:
    tasks, answers = folder / "subjects.ndjson", folder / "classifications.ndjson"
    with tasks.open("wb") as out, answers.open("wb") as more:
        subjects = export.write_tasks(out, n_answers)
        sums = {"subjects": subjects, "classifications": export.write_answers(more, subjects.subjects)}
    done = []
    for path in (tasks, answers):
        figures: Values = {}
        # Whether an answer fits can be said only when its task is there.
        if sums[path.stem].converted and not (dry_run and path is answers):
            asked = Asked(str(path), on_error="skip", dry_run=dry_run)
            figures = await import_files.run(services, project, asked, partial(progress, path.stem))
        done.append(_figures(path.stem, sums[path.stem], figures))
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


def _words(file_reports: list[Values], dry_run: bool) -> list[str]:
    lines = ["Dry run: nothing was changed."] if dry_run else []
    for each in file_reports:
        sums = " + ".join(f"{each[name]:,} {name}" for name in ("added", "present", "refused"))
        lines.append(f"{each['file']}: {each['read']:,} read = {sums}")
        for reason in each["reasons"]:
            more = ", …" if reason["rows"] > len(reason["first"]) else ""
            lines.append(f"  {reason['rows']:,} refused: {reason['sentence']} ({', '.join(reason['first'])}{more})")
        lines += [f"  line {row['line']}: {row['reason']}" for row in each["refused_rows"]]
    return [*lines, _NOT_KEPT]
