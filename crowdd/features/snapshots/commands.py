"""``crowdctl project snapshot``: snapshots of projects."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
import click

from crowdd.admin_cli.groups import Group, gathered
from crowdd.admin_cli.output import json_option, listing, say, watching
from crowdd.admin_cli.prompts import hidden
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.feature import House
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.lookups import project as found
from crowdd.features.snapshots.contents import SnapshotView, snapshot_view
from crowdd.features.snapshots.deposits import Destination
from crowdd.features.snapshots.feature import SnapshotsFeature
from crowdd.features.snapshots.repository import PUBLIC
from crowdd.features.snapshots.runner import Made
from crowdd.features.snapshots.verification import Verified, verify_archive
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Values

_HASH: Final = re.compile("[0-9a-f]{64}")
_TOKEN_VARIABLE: Final = "CROWDD_REPOSITORY_TOKEN"  # noqa: S105 - its name
_COLUMNS: Final = ("id", "state", "public", "as_of", "bytes", "hash")


@click.group(cls=Group)
def snapshot() -> None:
    """Make and verify snapshots: files of a project that never change, and that can be cited.

    PROJECT is an id or a short name.
    """


@snapshot.command()
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def make(config: Path | None, which: str, as_json: bool) -> None:
    """Make a snapshot of a project now. The server may run meanwhile.

    Prints the hash of the content. If the project has a snapshot with this content, no other one is made.
    """
    with watching("Reading rows", quiet=as_json) as report:
        made, url = with_domain(config, lambda house: _make(house, which, report))
    say(as_json, {**attrs.asdict(made), "url": url}, f"{'Known' if made.known else 'Made'}: {made.hash}", url)


@snapshot.command("list")
@click.argument("which", metavar="PROJECT")
@json_option
@click.pass_obj
def list_snapshots(config: Path | None, which: str, as_json: bool) -> None:
    """List the snapshots of a project, the newest first."""
    listing(as_json, with_domain(config, lambda house: _list(house, which)), _COLUMNS)


@snapshot.command()
@click.argument("what", metavar="FILE|HASH")
@json_option
@click.pass_context
def verify(ctx: click.Context, what: str, as_json: bool) -> None:
    """Verify a snapshot: a ZIP archive, or one of this server.

    FILE|HASH is the archive, or the hash of the content. Reads all files, and compares them with the manifest and with
    the hash. Prints what differs, and exits with 1 if anything does.
    """
    path = Path(what)
    done = verify_archive(path) if path.is_file() else with_domain(ctx.obj, lambda house: _verify(house, what))
    fits = f"{done.files} files fit {done.hash}"
    say(as_json, attrs.asdict(done), *(done.faults or (fits,)))
    ctx.exit(int(bool(done.faults)))


@attrs.frozen
class _Repository:
    url: str
    token_file: Path | None
    publish: bool

    def destination(self) -> Destination:
        word = hidden(self.token_file, _TOKEN_VARIABLE, "Access token", "--token-file")
        return Destination(self.url, word, self.publish)


@snapshot.command()
@click.argument("which", metavar="PROJECT")
@click.argument("hash_", metavar="HASH")
@click.option("--url", default=PUBLIC, show_default=True, help="Address of the repository.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"File with the access token in its first line (default: {_TOKEN_VARIABLE} in the environment, or a prompt).",
)
@click.option("--publish", is_flag=True, help="Publish the deposit. This cannot be undone.")
@json_option
@click.pass_obj
@gathered("repository", _Repository)
def deposit(config: Path | None, which: str, hash_: str, repository: _Repository, as_json: bool) -> None:
    """Deposit a snapshot at Zenodo, or in another repository with the same interface.

    HASH is that of the snapshot, which needs a licence and an author. If the command was interrupted, run it again: it
    continues, and files that the repository has are not sent again. Without --publish, check and publish the deposit on
    its page.
    """
    destination = repository.destination()
    with watching("Files", quiet=as_json) as report:
        done = with_domain(config, lambda house: _deposit(house, which, hash_, destination, report))
    say(as_json, done, *(text for text in (done["page"], done["doi"]) if text))


async def _deposit(
    house: House, which: str, hash_: str, destination: Destination, report: Callable[[int], object]
) -> Values:
    row = await found(house[ProjectsFeature].projects, house.base.records, which)
    stored = await house[SnapshotsFeature].snapshots.get(SYSTEM, row, hash_)

    async def report_progress(done: int, total: int) -> None:
        report(done)

    done = await house[SnapshotsFeature].deposits.now(SYSTEM, row["id"], stored["id"], destination, report_progress)
    return {"state": done["state"], "page": done["page"], "doi": done["doi"]}


async def _make(house: House, which: str, report: Callable[[int], object]) -> tuple[Made, str]:
    row = await found(house[ProjectsFeature].projects, house.base.records, which)

    async def report_rows(rows: int) -> None:
        if rows:
            report(rows)

    made = await house[SnapshotsFeature].snapshots.make_now(SYSTEM, row["id"], report_rows)
    return made, f"{_address(house, row['short_name'])}/{made.hash}"


async def _list(house: House, which: str) -> list[SnapshotView]:
    row = await found(house[ProjectsFeature].projects, house.base.records, which)
    address = _address(house, row["short_name"])
    return [
        snapshot_view(each, address, owns=True) for each in await house[SnapshotsFeature].snapshots.listed(SYSTEM, row)
    ]


async def _verify(house: House, what: str) -> Verified:
    if not _HASH.fullmatch(what):
        raise NotFoundError(f"{what} is neither a file nor the hash of a snapshot.")
    return await house[SnapshotsFeature].snapshots.verify(await house[SnapshotsFeature].snapshots.find(what))


def _address(house: House, short_name: str) -> str:
    return f"{house.base.settings.base_url.rstrip('/')}/project/{short_name}/snapshots"
