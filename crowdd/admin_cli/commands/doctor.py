"""``crowdctl doctor``: check the installation and print problems with what to do."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import click

from crowdd.admin_cli.health_probe import complaints
from crowdd.admin_cli.output import json_option, report
from crowdd.admin_cli.runtime import reactor, with_database
from crowdd.concurrency import no_network
from crowdd.config import Settings, load
from crowdd.domain.core import secrets as root_keys
from crowdd.domain.media.configured import s3_store
from crowdd.domain.media.copying import check
from crowdd.domain.server import server_key
from crowdd.domain.server.backups import folder
from crowdd.domain.server.bootstrap import make_replica
from crowdd.domain.server.doctor_rules import Facts, Finding, of_damage, of_data_folder, of_server, of_settings
from crowdd.domain.server.recount import Checking
from crowdd.domain.webhooks.webhooks import state_view
from crowdd.errors import CrowddError
from crowdd.http.errors import message_of
from crowdd.sched.schedule import overview
from crowdd.storage import nodes, schema
from crowdd.storage.connections.hosts import Hosts
from crowdd.storage.connections.pool import Pool
from crowdd.storage.server.damage import damaged_tables
from crowdd.storage.server.db_health import condition, replica_condition
from crowdd.storage.server.rows import ReplicaHealth
from crowdd.storage.webhooks import webhooks


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
    problems = examine(ctx.obj, thorough, deep)
    ctx.exit(report(as_json, problems, "No problems found."))


def examine(config: Path | None, thorough: bool, deep: bool) -> list[Finding]:
    """Everything that was found; what cannot be looked at is a finding too."""
    try:
        settings = load(config)
    except CrowddError as error:
        return [Finding(message_of(error), "Correct it. To list the settings: crowdctl config show")]
    problems = of_settings(settings)
    try:
        return problems + with_database(config, lambda pool: _of_database(settings, pool, thorough, deep))
    except CrowddError as error:
        return [*problems, *of_data_folder(*_folder(settings)), Finding(message_of(error), error.hint)]


async def _of_database(settings: Settings, pool: Pool, thorough: bool, deep: bool) -> list[Finding]:
    damaged = [of_damage(each.table, each.error) async for each in damaged_tables(pool)] if deep else []
    (await schema.status(pool)).require()
    free_bytes, key_mode = _folder(settings)
    key = await server_key.find(pool, root_keys.existing(settings.data.dir))
    replica, current = await _replica(settings, pool)
    facts = Facts(
        free_bytes=free_bytes,
        key_mode=key_mode,
        key_complaint=key.complaint(settings.data.dir),
        complaints=complaints(settings),
        base_url=settings.base_url,
        now=time.time(),
        database=await condition(pool),
        jobs=await overview(pool, settings),
        webhooks=[state_view(row) for row in await webhooks.states(pool)],
        backup_days=settings.data.backup_days,
        backup_complaint=folder.complaint(settings),
        configured=bool(settings.db.dsn),
        media_complaint=await _media(settings),
        nodes=await nodes.overview(pool),
        shares_limits=settings.ratelimit.shared,
        drains=bool(settings.http.drain_delay),
        replica=replica,
        replica_current=current,
        several_hosts=len(Hosts.of(settings.db.dsn).dsns) > 1,
        other_disks=_other_disks(settings),
        bars_network=no_network.is_possible(),
    )
    return damaged + of_server(facts) + (await _recounted(pool) if thorough else [])


async def _media(settings: Settings) -> str:
    """Why the bucket cannot be used; empty if it can, or if there is none."""
    if settings.media.store != "s3":
        return ""
    try:
        return await check(s3_store(reactor, settings.media))
    except CrowddError as error:
        return message_of(error)


async def _replica(settings: Settings, pool: Pool) -> tuple[ReplicaHealth | str | None, bool]:
    """How the replica is, or why it does not answer; None if there is none. And whether it has what the primary has."""
    replica = make_replica(reactor, settings, pool, settings.db.statement_timeout)
    if replica is None:
        return None, True
    starting = replica.pool.start()
    try:
        return await replica_condition(replica.pool), await replica.catches_up()
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
    return [Finding(f"{sentence}.", "To correct it: crowdctl check --repair") for sentence in sentences]
