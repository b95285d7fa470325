"""What is wrong with a server, and what to do about it: sentences made of facts, without any I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs

from crowdd.core.findings import Finding
from crowdd.database.access import Row
from crowdd.database.nodes import NodeState
from crowdd.features.operations import keys
from crowdd.kernel.files import name_page
from crowdd.kernel.values import Values
from crowdd.sched.rows import DatabaseHealth, ReplicaHealth

OLDEST_POSTGRESQL = 15
MIN_FREE_BYTES = 1_000_000_000
MIN_CONNECTIONS = 5
LONG_TRANSACTION_SECONDS = 600
OVERDUE_SECONDS = 900  # beyond what any job waits when all is well
WAITING_SECONDS = 600  # of an item that is due and that nobody takes
SKEW_SECONDS = 30
MANY_ADDRESSES = 5  # to which e-mail failed in a day
BEHIND_SECONDS = 30  # of a replica
_DAY = 86_400.0


@attrs.frozen
class Facts:
    """What was seen of a server; what could not be seen is None.

    ``database`` is what ``features.operations.statements.read_db_health`` returns, ``jobs`` are the rows of
    ``sched.job_runner.overview``, ``webhooks`` states as ``features.webhooks.webhooks.state_view`` has them.
    """

    free_bytes: int
    key_mode: int | None  # permissions of the file with the root key
    complaints: Sequence[str] | None  # what the server that is configured says it lacks; None: none answers
    base_url: str
    now: float  # epoch seconds of this machine
    database: DatabaseHealth
    jobs: Sequence[Row]
    webhooks: Sequence[Values]
    key_complaint: str = ""  # how secret.key does not fit the database
    backup_days: int = 0  # [data] backup_days
    backup_tools: str = ""  # why no backup can be made with the programs of this machine
    backups_scheduled: bool = False  # [backups] dir
    configured: bool = True  # [db] dsn names the database; else it is crowdd's own
    media_complaint: str = ""  # why the store of media files cannot be used
    nodes: Sequence[NodeState] = ()
    shares_limits: bool = True  # [ratelimit] shared
    drains: bool = True  # [http] drain_delay
    replica: ReplicaHealth | str | None = None  # of [db] replica_dsn, or why it does not answer; None: there is none
    replica_current: bool = True  # it has what the primary had when it was asked
    several_hosts: bool = False  # [db] dsn names them
    other_disks: Sequence[tuple[str, int]] = ()  # folders on other disks than the data folder's, and their free bytes
    missing_map: Path | None = None  # [maps] file, where it is not
    bars_network: bool = True  # processes that read files of others can be kept away from the network


def of_damage(table: str, error: str) -> Finding:
    """A table cannot be read to its end; ``error`` are PostgreSQL's words."""
    return Finding(
        "damaged_table",
        f"The table {table} is damaged: {error}.",
        "Stop the server, copy the files of PostgreSQL, check the disk, and restore a backup:"
        f" {name_page('operations.md', 'Failure modes')}.",
    )


def of_server(facts: Facts) -> list[Finding]:
    """What can be said of a server whose database answers."""
    looks: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
        _of_data_folder, _of_postgresql, _of_roles, _of_running, _of_jobs, _of_queue, _of_comparisons, _of_letters,
        _of_webhooks, _of_people, _of_backups, _of_media, _of_map, _of_nodes, _of_replica, _of_system,
    )  # fmt: skip
    return [finding for look in looks for finding in look(facts)]


def of_data_folder(free_bytes: int, key_mode: int | None) -> Iterator[Finding]:
    """What can be said of the data folder alone."""
    if free_bytes < MIN_FREE_BYTES:
        yield Finding(
            "disk_full",
            f"Only {free_bytes // 1_000_000} MB are free in the data folder.",
            "Free disk space, or move the folder to a larger disk.",
        )
    if key_mode is None:
        yield Finding(
            "no_key",
            "The data folder contains no secret.key.",
            "The next start creates one. If this server ran before, restore the old file first, or correct [data] dir.",
            wrong=False,
        )
    elif key_mode & 0o077:
        yield Finding("key_readable", "Other users can read secret.key in the data folder.", "Run chmod 600 on it.")


def _of_data_folder(facts: Facts) -> Iterator[Finding]:
    for folder, free_bytes in facts.other_disks:
        if free_bytes < MIN_FREE_BYTES:
            yield Finding(
                "disk_full", f"Only {free_bytes // 1_000_000} MB are free in the {folder}.", "Free disk space there."
            )
    if facts.key_complaint:
        yield Finding("server_key", facts.key_complaint, keys.WHAT_TO_DO)
    if facts.key_mode is not None or not facts.key_complaint:
        yield from of_data_folder(facts.free_bytes, facts.key_mode)


def _of_postgresql(facts: Facts) -> Iterator[Finding]:
    row = facts.database
    major, free = row["version"] // 10_000, row["max_connections"] - row["connections"]
    if major < OLDEST_POSTGRESQL:
        yield Finding(
            "postgresql_version", f"PostgreSQL is version {major}.", f"crowdd needs {OLDEST_POSTGRESQL} or newer."
        )
    if row["read_only"]:
        yield Finding(
            "read_only",
            "The database is read-only: it is a standby, or is configured as read-only.",
            "Set [db] dsn to the primary.",
        )
    if free < MIN_CONNECTIONS:
        yield Finding(
            "connections",
            f"PostgreSQL has {free} connections left of {row['max_connections']}.",
            "Raise max_connections, or lower [db] pool_size.",
        )
    if not row["fsync"]:
        yield Finding("fsync", "PostgreSQL runs with fsync off: a power cut loses the database.", "Switch fsync on.")
    if facts.several_hosts and not row["synchronous"]:
        yield Finding(
            "not_synchronous",
            "The database waits for no other server: if the primary fails, confirmed answers may be lost.",
            "Start the other servers, and check that synchronous_mode and synchronous_commit are on.",
        )
    if row["oldest_transaction"] > LONG_TRANSACTION_SECONDS:
        yield Finding(
            "long_transaction",
            f"A transaction has been open for {_duration(row['oldest_transaction'])}, so tables cannot be vacuumed.",
            "Find it in pg_stat_activity and terminate it.",
        )
    if abs(row["now"] - facts.now) > SKEW_SECONDS:
        yield Finding(
            "clock",
            f"The clocks of this machine and of the database differ by {_duration(abs(row['now'] - facts.now))}.",
            "Synchronise both with a time server.",
        )


def _of_roles(facts: Facts) -> Iterator[Finding]:
    """Whether who gets hold of the server's connection could do more than the server has to."""
    if facts.configured and facts.database["owns_tables"]:
        yield Finding(
            "table_owner",
            "The database role of the server owns the tables, so it could drop or change them.",
            "Use another role in [db] dsn, and set [db] migrate_dsn:"
            f" {name_page('operations.md', 'Separate database roles')}.",
            wrong=False,
        )
    if facts.database["elsewhere"] and not facts.database["encrypted"]:
        yield Finding(
            "database_not_encrypted",
            "The connection to PostgreSQL on another host is not encrypted.",
            "Set sslmode=verify-full and sslrootcert in [db] dsn and migrate_dsn.",
        )


def _of_running(facts: Facts) -> Iterator[Finding]:
    if facts.complaints is None:
        yield Finding(
            "not_running", f"No server answers at {facts.base_url}.", "Start it: twistd crowdd, or crowdctl serve."
        )
    for words in facts.complaints or ():
        yield Finding("not_ready", f"The running server is not ready: {words}", "See its log.")


def _of_jobs(facts: Facts) -> Iterator[Finding]:
    late = [job for job in facts.jobs if job["period"] and (job["overdue"] or 0) > OVERDUE_SECONDS]
    if late:
        longest = max(job["overdue"] for job in late)
        yield Finding(
            "jobs_overdue",
            f"{len(late)} jobs are overdue, the longest by {_duration(longest)}.",
            "Jobs run only while a server is running.",
        )
    for job in facts.jobs:
        if job["failures"]:
            yield Finding(
                "job_failing",
                f"The job {job['name']} has failed {job['failures']} times in a row: {job['words']}",
                f"crowdctl jobs show {job['name']}",
            )


def _of_queue(facts: Facts) -> Iterator[Finding]:
    row = facts.database
    if row["queue_dead"]:
        yield Finding(
            "tasks_dead",
            f"{row['queue_dead']} background tasks have failed.",
            "To see why: crowdctl queue list --state dead. To run one again: crowdctl queue retry."
            " To put one aside: crowdctl queue discard",
        )
    if row["queue_waits"] > WAITING_SECONDS:
        yield Finding(
            "tasks_waiting",
            f"A background task has been due for {_duration(row['queue_waits'])}, but no worker runs it.",
            "Set [queue] workers above 0 on a running server, or: crowdctl queue work",
        )


def _of_comparisons(facts: Facts) -> Iterator[Finding]:
    row = facts.database
    if row["comparisons_failed"]:
        yield Finding(
            "comparisons_failed",
            f"{row['comparisons_failed']} comparisons of answers failed. The first: {row['comparison_failure']}.",
            "Owners try them again on the results page of the project. For all projects: crowdctl check --repair",
        )


def _of_letters(facts: Facts) -> Iterator[Finding]:
    row = facts.database
    if row["mail_refused"]:
        yield Finding(
            "mail_refused",
            f"Addresses to which e-mails could not be delivered in the last day: {row['mail_refused']}.",
            "To see why: crowdctl mail list --state dead. To delete one: crowdctl mail discard",
            wrong=row["mail_refused"] >= MANY_ADDRESSES,  # fewer are mistyped
        )
    if row["mail_delayed"]:
        yield Finding(
            "mail_delayed",
            f"E-mails that have waited for over an hour: {row['mail_delayed']}."
            f" The mail server says: {row['mail_error']}",
            "Check [mail], and send one: crowdctl mail test ADDRESS",
        )
    if row["mail_held"]:
        yield Finding(
            "mail_held",
            f"E-mails that are held because mail was off: {row['mail_held']}.",
            "To send one: crowdctl mail send",
            wrong=False,
        )


def _of_webhooks(facts: Facts) -> Iterator[Finding]:
    for hook in facts.webhooks:
        if hook["state"] in ("off", "failing"):
            name, how = hook["short_name"], "is switched off" if hook["state"] == "off" else "is failing"
            yield Finding(
                "webhook",
                f"The webhook of {name} {how}. {hook['why_off']}".strip(),
                f"To see why: crowdctl webhook show {name}. To resume: crowdctl webhook on {name}",
            )


def _of_people(facts: Facts) -> Iterator[Finding]:
    if not facts.database["admins"]:
        yield Finding(
            "no_administrator", "The site has no administrator.", "To create the first one: crowdctl admin link"
        )


def _of_backups(facts: Facts) -> Iterator[Finding]:
    """A place that has never seen a backup of ours may have another way; one whose backups have ended has a fault."""
    age, used = facts.database["last_backup"], (facts.database["first_project"] or 0.0) / _DAY
    if facts.backup_tools:
        yield Finding(
            "backup_programs",
            f"crowdctl backup cannot work here. {facts.backup_tools}",
            "Without a schedule of backups this is advice.",
            wrong=facts.backups_scheduled,
        )
    if not facts.backup_days:
        return
    todo = (
        "Run crowdctl backup FILE, or set [backups] dir. "
        "If you make backups in another way, set [data] backup_days = 0."
    )
    if age is None and used > facts.backup_days:
        yield Finding("no_backup", "No backup was made with crowdctl backup.", todo, wrong=False)
    if age is not None and age / _DAY > facts.backup_days:
        yield Finding("old_backup", f"The last backup is {_duration(age)} old.", todo)


def _of_media(facts: Facts) -> Iterator[Finding]:
    if facts.media_complaint:
        yield Finding(
            "media_store",
            f"Media files cannot be stored. {facts.media_complaint}",
            f"See {name_page('configuration.md', '[media]')}.",
        )


def _of_map(facts: Facts) -> Iterator[Finding]:
    if facts.missing_map is not None:
        yield Finding(
            "map_missing",
            f"The map of the site is missing: {facts.missing_map}.",
            f"Copy it there, or correct file in {name_page('configuration.md', '[maps]')}.",
        )


def _of_replica(facts: Facts) -> Iterator[Finding]:
    replica = facts.replica
    if replica is None:
        return
    if isinstance(replica, str):
        yield Finding(
            "replica_away",
            f"The replica does not answer, so the primary serves exports and long lists. {replica}",
            "Start it, or correct [db] replica_dsn.",
        )
    elif not replica["follows"]:
        yield Finding(
            "replica_wrong", "[db] replica_dsn names a server that is no replica.", "Let it name a streaming replica."
        )
    elif not facts.replica_current and replica["last_transaction"] > BEHIND_SECONDS:
        behind = _duration(replica["last_transaction"])
        yield Finding(
            "replica_behind",
            f"The replica is {behind} behind, so the primary serves exports and long lists.",
            "Compare pg_stat_replication on the primary with the load and the disk of the replica.",
        )
    elif not replica["keeps_rows"]:
        yield Finding(
            "replica_feedback",
            "hot_standby_feedback is off on the replica: long exports may break off.",
            "Switch it on there.",
            wrong=False,
        )


def _of_system(facts: Facts) -> Iterator[Finding]:
    if not facts.bars_network:
        yield Finding(
            "no_seccomp",
            "This system has no seccomp filters, so the processes that read files of users can reach the network.",
            "Run crowdd on x86_64 or aarch64, and let it set filters:"
            f" {name_page('operations.md', 'Processes without network')}.",
            wrong=False,
        )


def _duration(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"


def _of_nodes(facts: Facts) -> Iterator[Finding]:
    running = [node for node in facts.nodes if node["state"] != "gone"]
    if len(running) <= 1:
        return
    if not facts.shares_limits:
        yield Finding(
            "limits_not_shared",
            f"{len(running)} servers run on this database, and each counts rate limits for itself.",
            "Set [ratelimit] shared = on, on every server, and restart them.",
        )
    if len({node["version"] for node in running}) > 1:
        versions = ", ".join(f"{node['name']} {node['version']}" for node in running)
        yield Finding(
            "versions_differ",
            f"Servers run different versions: {versions}.",
            "Upgrade the others as well.",
            wrong=False,
        )
    if not facts.drains:
        yield Finding(
            "no_drain",
            "[http] drain_delay is 0, so requests fail while a server is restarted behind a proxy.",
            "Set it to more than the proxy takes to notice that /ready answers 503.",
            wrong=False,
        )
