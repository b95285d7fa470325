"""``crowdctl doctor``, ``check`` and ``config``: find problems of the installation, recount counters, show settings.

``check`` also verifies that the audit log is as it was written.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, print_json, report
from crowdd.admin_cli.runtime import reactor, with_database, with_domain
from crowdd.admin_cli.serve import complaints
from crowdd.core import secrets as root_keys
from crowdd.core.base import make_replica
from crowdd.database import nodes, schema
from crowdd.database.connector import Hosts
from crowdd.database.pool import Pool
from crowdd.features.media.stores import build_s3_store, check_store
from crowdd.features.operations import backups, keys
from crowdd.features.operations.audit_chain import head_sentence, sentence
from crowdd.features.operations.doctor import Facts, Finding, of_damage, of_data_folder, of_server, of_settings
from crowdd.features.operations.statements import damaged_tables, read_db_health, read_replica_health
from crowdd.features.webhooks import statements as webhook_statements
from crowdd.features.webhooks.webhooks import state_view
from crowdd.http.errors import message_of
from crowdd.kernel import config as settings_of
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.config import SECTIONS, Settings, load
from crowdd.kernel.errors import CrowddError
from crowdd.kernel.files import find_shipped
from crowdd.kernel.values import Values
from crowdd.sched.job_runner import overview
from crowdd.sched.rows import AuditMisfit, ReplicaHealth
from crowdd.sched.statistics import Checking, Difference
from crowdd.services import Services


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
    key = await keys.read_key_state(pool, root_keys.existing(settings.data.dir))
    replica, current = await _replica(settings, pool)
    facts = Facts(
        free_bytes=free_bytes,
        key_mode=key_mode,
        key_complaint=key.complaint(settings.data.dir),
        complaints=complaints(settings),
        base_url=settings.base_url,
        now=time.time(),
        database=await read_db_health(pool),
        jobs=await overview(pool, settings),
        webhooks=[state_view(row) for row in await webhook_statements.states(pool)],
        backup_days=settings.data.backup_days,
        backup_complaint=backups.complaint(settings),
        configured=bool(settings.db.dsn),
        media_complaint=await _media(settings),
        nodes=await nodes.overview(pool),
        shares_limits=settings.ratelimit.shared,
        drains=bool(settings.http.drain_delay),
        replica=replica,
        replica_current=current,
        several_hosts=len(Hosts.of(settings.db.dsn).dsns) > 1,
        other_disks=_other_disks(settings),
        bars_network=isolated.is_possible(),
    )
    return damaged + of_server(facts) + (await _recounted(pool) if thorough else [])


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
    return [Finding(f"{sentence}.", "To correct it: crowdctl check --repair") for sentence in sentences]


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
    differences, misfit, heads = with_domain(ctx.obj, lambda services: _look(services, repair, quiet=as_json))
    if as_json:
        of_log = [] if misfit is None else [{"check": "audit log", **misfit}]
        of_heads = [{"check": "audit log in snapshot", **head} for head in heads]
        print_json([*(attrs.asdict(difference) for difference in differences), *of_log, *of_heads])
    ctx.exit(int(misfit is not None or bool(heads) or any(not difference.repaired for difference in differences)))


async def _look(
    services: Services, repair: bool, quiet: bool
) -> tuple[list[Difference], AuditMisfit | None, list[Values]]:
    """All differences, each printed as soon as it is known."""
    differences = []
    async for difference in services.checking.run(repair=repair):
        differences.append(difference)
        if not quiet:
            click.echo(difference.sentence())
    misfit = await services.audit_chain.verify()
    if misfit is not None and not quiet:
        click.echo(sentence(misfit))
    heads = []
    async for snapshot, head in services.snapshots.audit_heads():
        if not await services.audit_chain.holds(head):
            heads.append({"project_id": snapshot["project_id"], "snapshot": snapshot["hash"], **head})
            if not quiet:
                click.echo(head_sentence(str(snapshot["hash"]), head))
    return differences, misfit, heads


_COLUMNS = ("setting", "value", "from")
_SECRET = re.compile(r"(^|_)(password|secret|secret_key|token)$")
_IN_DSN = re.compile(r"(password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|\S+)|(://[^:/@\s]*:)[^@\s]*(?=@)")
HIDDEN = "***"


@click.group(cls=Group)
def config() -> None:
    """Show and check the settings. No database is needed."""


@config.command()
@click.option("--all", "whole", is_flag=True, help="Also show settings that have their default value.")
@json_option
@click.pass_obj
def show(path: Path | None, whole: bool, as_json: bool) -> None:
    """Show changed settings and where each was set. Passwords and keys are hidden."""
    rows = [row for row in list_settings(path) if whole or row["from"] != "default"]
    if not rows and not as_json:
        click.echo("All settings have their default values. To list them: crowdctl config show --all")
        return
    listing(as_json, rows, _COLUMNS)


@config.command("check")
@json_option
@click.pass_context
def check_config(ctx: click.Context, as_json: bool) -> None:
    """Check the settings without starting anything. Exits with 1 if there is a problem."""
    findings = of_settings(load(ctx.obj))
    ctx.exit(report(as_json, findings, "The settings are valid."))


@config.command()
@click.option("--set", "chosen", multiple=True, metavar="SECTION.OPTION=VALUE", help="A setting to include.")
def example(chosen: tuple[str, ...]) -> None:
    """Print a configuration file with every setting, its default and what it is for."""
    click.echo(with_values(find_shipped("etc/crowdd.conf").read_text("utf-8"), dict(map(_assigned, chosen))), nl=False)


def _assigned(words: str) -> tuple[tuple[str, str], str]:
    name, assigned, value = words.partition("=")
    section, _, option = name.partition(".")
    known = {(of, each) for of, each, _, _ in settings_of.options()}
    if not assigned or (section, option) not in known or "\n" in value:
        raise click.UsageError(f"{words!r} is not SECTION.OPTION=VALUE, as in http.port=8080.")
    return (section, option), value


def with_values(text: str, chosen: Mapping[tuple[str, str], str]) -> str:
    """The example with values in place of defaults."""
    section, lines = "", []
    for line in text.splitlines():
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section = heading[1]
        option = re.match(r"#(\w+) =", line)
        value = chosen.get((section, option[1])) if option else None
        lines.append(line if option is None or value is None else f"{option[1]} = {value}")
    return "\n".join(lines) + "\n"


def list_settings(path: Path | None) -> list[dict[str, object]]:
    """Every setting as (setting, value, from), without what is secret. Raises ConfigError."""
    settings, origins = load(path), settings_of.origins(path, os.environ)
    return [
        {
            "setting": f"[{section}] {field.name}",
            "value": public_value(field.name, getattr(getattr(settings, section), field.name)),
            "from": origins.get((section, field.name), "default"),
        }
        for section, cls in SECTIONS.items()
        for field in attrs.fields(cls)
    ]


def public_value(option: str, value: object) -> object:
    """The value as anybody may see it: a number, a switch, or a text without secrets."""
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    if text and _SECRET.search(option):
        return HIDDEN
    return _IN_DSN.sub(lambda match: f"{match[1] or match[2]}{HIDDEN}", text) if "dsn" in option else text
