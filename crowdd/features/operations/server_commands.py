"""``crowdctl doctor`` and ``check``: find problems of the installation, and recount counters.

``check`` also verifies that the audit log is as it was written.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.output import json_option, print_json, report, waiting
from crowdd.admin_cli.runtime import reactor, with_database, with_domain
from crowdd.admin_cli.serve import complaints
from crowdd.core import secrets as root_keys
from crowdd.core.audit_chain import head_sentence, sentence
from crowdd.core.base import make_replica
from crowdd.core.feature import House
from crowdd.core.findings import Finding
from crowdd.core.rows import AuditMisfit
from crowdd.database import nodes, schema
from crowdd.database.connector import Hosts
from crowdd.database.embedded.binaries import find_tools
from crowdd.database.pool import Pool
from crowdd.features.media.stores import build_s3_store, check_store
from crowdd.features.operations import keys
from crowdd.features.operations.doctor import Facts, of_damage, of_data_folder, of_server
from crowdd.features.operations.settings_files import check_settings
from crowdd.features.operations.statements import damaged_tables, read_db_health, read_replica_health
from crowdd.features.snapshots.feature import SnapshotsFeature
from crowdd.features.webhooks import statements as webhook_statements
from crowdd.features.webhooks.webhooks import state_view
from crowdd.http.errors import message_of
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.config import Settings, load
from crowdd.kernel.errors import CrowddError
from crowdd.kernel.values import Values
from crowdd.sched.feature import Scheduling
from crowdd.sched.job_runner import overview
from crowdd.sched.rows import ReplicaHealth
from crowdd.sched.statistics import Checking, Difference


@click.command()
@click.option("--thorough", is_flag=True, help="Also recount every counter, as crowdctl check does.")
@click.option("--deep", is_flag=True, help="Also read every row of every table, to find damaged ones.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, thorough: bool, deep: bool, as_json: bool) -> None:
    """Check settings, data folder, database, server, jobs, queue, e-mails and webhooks, and print problems.

    Each problem comes with what to do about it. Changes nothing: a file that it writes to an S3 bucket is removed.
    Exits with 1 if there is a problem, and with 0 if there is none or only advice.
    """
    with waiting("Looking at everything", quiet=as_json):
        problems = examine(ctx.obj, thorough, deep)
    ctx.exit(report(as_json, problems, "No problems found."))


def examine(config: Path | None, thorough: bool, deep: bool) -> list[Finding]:
    """Everything that was found; what cannot be looked at is a finding too."""
    try:
        settings = load(config)
    except CrowddError as error:
        return [Finding("settings", message_of(error), "Correct it. To list the settings: crowdctl config show")]
    problems = check_settings(settings, os.environ)
    try:
        return problems + with_database(config, lambda pool: _of_database(settings, pool, thorough, deep))
    except CrowddError as error:
        return [*problems, *of_data_folder(*_folder(settings)), Finding("database", message_of(error), error.hint)]


async def _of_database(settings: Settings, pool: Pool, thorough: bool, deep: bool) -> list[Finding]:
    damaged = [of_damage(each.table, each.error) async for each in damaged_tables(pool)] if deep else []
    (await schema.status(pool)).require()
    free_bytes, key_mode = _folder(settings)
    key = await keys.read_key_state(pool, root_keys.existing(settings.data.dir))
    replica, current = await _replica(settings, pool)
    health, map_path = await read_db_health(pool), settings.map_path
    facts = Facts(
        free_bytes=free_bytes,
        key_mode=key_mode,
        key_complaint=key.complaint(settings.data.dir),
        complaints=complaints(settings),
        base_url=settings.base_url,
        now=time.time(),
        database=health,
        jobs=await overview(pool, settings),
        webhooks=[state_view(row) for row in await webhook_statements.states(pool)],
        backup_days=settings.data.backup_days,
        backup_tools=_backup_tools(health["version"]),
        backups_scheduled=bool(settings.backups.dir),
        configured=bool(settings.db.dsn),
        media_complaint=await _media(settings),
        nodes=await nodes.overview(pool),
        shares_limits=settings.ratelimit.shared,
        drains=bool(settings.http.drain_delay),
        replica=replica,
        replica_current=current,
        several_hosts=len(Hosts.of(settings.db.dsn).dsns) > 1,
        other_disks=_other_disks(settings),
        missing_map=None if map_path is None or map_path.is_file() else map_path,
        bars_network=isolated.is_possible(),
    )
    return damaged + of_server(facts) + (await _recounted(pool) if thorough else [])


def _backup_tools(version: int) -> str:
    """Why the programs of this machine cannot back up a database of a PostgreSQL of this version; empty if they can."""
    try:
        find_tools(version // 10_000)
    except CrowddError as error:
        return message_of(error)
    return ""


async def _media(settings: Settings) -> str:
    """Why the bucket cannot be used; empty if it can, or if there is none."""
    if settings.media.store != "s3":
        return ""
    try:
        return await check_store(build_s3_store(reactor, settings.media))
    except CrowddError as error:
        return message_of(error)


async def _replica(settings: Settings, pool: Pool) -> tuple[ReplicaHealth | str | None, bool]:
    """How the replica is, or why it does not answer; None if there is none. And whether it has what the primary has."""
    replica = make_replica(reactor, settings, pool, settings.db.statement_timeout)
    if replica is None:
        return None, True
    starting = replica.pool.start()
    try:
        return await read_replica_health(replica.pool), await replica.catches_up()
    except CrowddError as error:
        return message_of(error), False
    finally:
        starting.addErrback(lambda failure: None)
        await replica.pool.close()


def _folder(settings: Settings) -> tuple[int, int | None]:
    """Free bytes of the data folder (or of where it will be), and the permissions of the key in it."""
    folder = settings.data.dir.absolute()
    while not folder.is_dir():
        folder = folder.parent
    key = settings.data.dir / root_keys.FILE
    return shutil.disk_usage(folder).free, os.stat(key).st_mode & 0o777 if key.exists() else None


def _other_disks(settings: Settings) -> list[tuple[str, int]]:
    """The folders of uploads and of the log that lie on another disk than the data folder, and their free bytes."""
    data = settings.data.dir.absolute()
    named = {"folder of uploads": data / "uploads"}
    if settings.log.file:
        named["folder of the log"] = Path(settings.log.file).absolute().parent
    folders = {name: folder for name, folder in named.items() if folder.is_dir() and data.is_dir()}
    return [
        (f"{name} ({folder})", shutil.disk_usage(folder).free)
        for name, folder in folders.items()
        if os.stat(folder).st_dev != os.stat(data).st_dev
    ]


async def _recounted(pool: Pool) -> list[Finding]:
    sentences = [difference.sentence() async for difference in Checking(pool).run(repair=False)]
    return [Finding("counter", f"{sentence}.", "To correct it: crowdctl check --repair") for sentence in sentences]


@click.command()
@click.option("--repair", is_flag=True, help="Correct the counters that differ.")
@json_option
@click.pass_context
def check(ctx: click.Context, repair: bool, as_json: bool) -> None:
    """Recount every counter from the rows, verify the audit log, and print what differs. The server can run meanwhile.

    For the audit log, the command names the first row that was changed, added or deleted after it was written, and each
    snapshot that was made when the log ended with a row that it no longer has. This cannot be repaired.

    Prints nothing and exits with 0 if nothing differs. Exits with 1 if a difference remains.
    """
    with waiting("Recounting every counter", quiet=as_json) as clear:

        def tell(line: str) -> None:
            if not as_json:
                clear()
                click.echo(line)

        differences, misfit, heads = with_domain(ctx.obj, lambda house: _look(house, repair, tell))
    if as_json:
        of_log = [] if misfit is None else [{"check": "audit log", **misfit}]
        of_heads = [{"check": "audit log in snapshot", **head} for head in heads]
        print_json([*(attrs.asdict(difference) for difference in differences), *of_log, *of_heads])
    ctx.exit(int(misfit is not None or bool(heads) or any(not difference.repaired for difference in differences)))


async def _look(
    house: House, repair: bool, tell: Callable[[str], None]
) -> tuple[list[Difference], AuditMisfit | None, list[Values]]:
    """All differences, each printed as soon as it is known."""
    differences = []
    async for difference in house[Scheduling].checking.run(repair=repair):
        differences.append(difference)
        tell(difference.sentence())
    misfit = await house.base.audit_chain.verify()
    if misfit is not None:
        tell(sentence(misfit))
    heads = []
    async for snapshot, head in house[SnapshotsFeature].snapshots.audit_heads():
        if not await house.base.audit_chain.holds(head):
            heads.append({"project_id": snapshot["project_id"], "snapshot": snapshot["hash"], **head})
            tell(head_sentence(str(snapshot["hash"]), head))
    return differences, misfit, heads
