"""What is wrong with a server, and what to do about it: sentences made of facts, without any I/O."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

import attrs

from crowdd.database.access import Row
from crowdd.database.nodes import NodeState
from crowdd.features.accounts import validation
from crowdd.features.operations import keys
from crowdd.kernel.config import Settings
from crowdd.kernel.values import Values
from crowdd.sched.rows import DatabaseHealth, ReplicaHealth

OLDEST_POSTGRESQL = 15
MIN_FREE_BYTES = 1_000_000_000
MIN_CONNECTIONS = 5
LONG_TRANSACTION_SECONDS = 600
OVERDUE_SECONDS = 900  # beyond what any job waits when all is well
WAITING_SECONDS = 600  # of an item that is due and that nobody takes
SKEW_SECONDS = 30
BEHIND_SECONDS = 30  # of a replica
_DAY = 86_400.0


@attrs.frozen
class Finding:
    """Something that was found: what is the matter, and what to do. ``wrong`` is false for mere advice."""

    what: str
    todo: str
    wrong: bool = True

    def sentence(self) -> str:
        """Both, for people."""
        return f"{'Problem' if self.wrong else 'Advice'}: {self.what} {self.todo}".rstrip()


def of_settings(settings: Settings) -> list[Finding]:
    """What can be said of the settings alone."""
    return [*_of_addresses(settings), *_of_mail(settings), *_of_providers(settings), *_of_texts(settings)]


def _of_addresses(settings: Settings) -> Iterator[Finding]:
    where = urlsplit(settings.base_url)
    if where.scheme not in ("http", "https") or not where.hostname or where.path or where.query:
        yield Finding(
            f"[http] base_url is {settings.base_url!r}.", "Set it to scheme and host, as in https://crowd.example."
        )
    elif settings.http.cross_site_cookies and where.scheme != "https":
        yield Finding("[http] cross_site_cookies needs https.", "Set [http] base_url to an address with https.")
    everywhere = settings.http.host in ("0.0.0.0", "::", "")  # noqa: S104
    unnamed = everywhere and not settings.http.base_url
    if where.scheme == "http" and not unnamed and not _is_this_machine(where.hostname or ""):
        yield Finding(
            f"People reach {settings.base_url} without encryption: passwords, cookies and keys can be read on the way.",
            "Put a proxy with TLS in front or set [http] tls_certificate, and set [http] base_url to an https address.",
        )
    if unnamed:
        yield Finding(
            "The server listens on every address, so links in e-mails do not work on other machines.",
            "Set [http] base_url to the address that people use.",
        )
    if not everywhere and where.scheme == "https" and not settings.http.trusted_proxies:
        yield Finding(
            "People connect over https, but no proxy is trusted.",
            "If crowdd is behind a proxy, add it to [http] trusted_proxies. Otherwise all people share one rate limit.",
            wrong=False,
        )


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _of_mail(settings: Settings) -> Iterator[Finding]:
    mail = settings.mail
    if mail.host and validation.check_email(mail.sender):
        yield Finding(
            "[mail] host is set, but [mail] sender is not a valid address.", "Set the address that e-mails come from."
        )
    if mail.host and mail.user and mail.tls == "off":
        yield Finding("[mail] tls is off, so the password is sent unencrypted.", "Set it to starttls or implicit.")
    if settings.confirms_email and not mail.host:
        yield Finding(
            "[accounts] confirm_email is on while mail is off: nobody can sign up.",
            "Set [mail] host and sender, or set confirm_email to auto or off.",
        )
    if not mail.host:
        yield Finding(
            "Mail is off: e-mails are held, and their links are written to the log.",
            "Set [mail] host and sender. To list held e-mails: crowdctl mail list",
            wrong=False,
        )


def _of_providers(settings: Settings) -> Iterator[Finding]:
    for name in ("google", "github", "orcid"):
        has = [bool(getattr(settings.signin, f"{name}_client_{part}")) for part in ("id", "secret")]
        if has[0] != has[1]:
            yield Finding(f"[signin] {name} has a client id or a secret, not both.", "Set both, or none.")


def _of_texts(settings: Settings) -> Iterator[Finding]:
    if settings.commenting.public_key and not settings.commenting.secret_key:
        yield Finding("[commenting] has a public key without its secret key.", "Set both, or none.")


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
    backup_complaint: str = ""  # why backups on a schedule cannot be made
    configured: bool = True  # [db] dsn names the database; else it is crowdd's own
    media_complaint: str = ""  # why the store of media files cannot be used
    nodes: Sequence[NodeState] = ()
    shares_limits: bool = True  # [ratelimit] shared
    drains: bool = True  # [http] drain_delay
    replica: ReplicaHealth | str | None = None  # of [db] replica_dsn, or why it does not answer; None: there is none
    replica_current: bool = True  # it has what the primary had when it was asked
    several_hosts: bool = False  # [db] dsn names them
    other_disks: Sequence[tuple[str, int]] = ()  # folders on other disks than the data folder's, and their free bytes
    bars_network: bool = True  # processes that read files of others can be kept away from the network


def of_damage(table: str, error: str) -> Finding:
    """A table cannot be read to its end; ``error`` are PostgreSQL's words."""
    return Finding(
        f"The table {table} is damaged: {error}.",
        "Stop the server, copy the files of PostgreSQL, check the disk, and restore a backup:"
        " docs/operations.md, Failure modes.",
    )


def of_server(facts: Facts) -> list[Finding]:
    """What can be said of a server whose database answers."""
    looks: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
        _of_data_folder, _of_postgresql, _of_roles, _of_running, _of_jobs, _of_queue, _of_letters, _of_webhooks,
        _of_people, _of_backups, _of_media, _of_nodes, _of_replica, _of_system,
    )  # fmt: skip
    return [finding for look in looks for finding in look(facts)]


def of_data_folder(free_bytes: int, key_mode: int | None) -> Iterator[Finding]:
    """What can be said of the data folder alone."""
    if free_bytes < MIN_FREE_BYTES:
        yield Finding(
            f"Only {free_bytes // 1_000_000} MB are free in the data folder.",
            "Free disk space, or move the folder to a larger disk.",
        )
    if key_mode is None:
        yield Finding(
            "The data folder contains no secret.key.",
            "The next start creates one. If this server ran before, restore the old file first, or correct [data] dir.",
            wrong=False,
        )
    elif key_mode & 0o077:
        yield Finding("Other users can read secret.key in the data folder.", "Run chmod 600 on it.")


def _of_data_folder(facts: Facts) -> Iterator[Finding]:
    for folder, free_bytes in facts.other_disks:
        if free_bytes < MIN_FREE_BYTES:
            yield Finding(f"Only {free_bytes // 1_000_000} MB are free in the {folder}.", "Free disk space there.")
    if facts.key_complaint:
        yield Finding(facts.key_complaint, keys.WHAT_TO_DO)
    if facts.key_mode is not None or not facts.key_complaint:
        yield from of_data_folder(facts.free_bytes, facts.key_mode)


def _of_postgresql(facts: Facts) -> Iterator[Finding]:
    row = facts.database
    major, free = row["version"] // 10_000, row["max_connections"] - row["connections"]
    if major < OLDEST_POSTGRESQL:
        yield Finding(f"PostgreSQL is version {major}.", f"crowdd needs {OLDEST_POSTGRESQL} or newer.")
    if row["read_only"]:
        yield Finding(
            "The database is read-only: it is a standby, or is configured as read-only.", "Set [db] dsn to the primary."
        )
    if free < MIN_CONNECTIONS:
        yield Finding(
            f"PostgreSQL has {free} connections left of {row['max_connections']}.",
            "Raise max_connections, or lower [db] pool_size.",
        )
    if not row["fsync"]:
        yield Finding("PostgreSQL runs with fsync off: a power cut loses the database.", "Switch fsync on.")
    if facts.several_hosts and not row["synchronous"]:
        yield Finding(
            "The database waits for no other server: if the primary fails, confirmed answers may be lost.",
            "Start the other servers, and check that synchronous_mode and synchronous_commit are on.",
        )
    if row["oldest_transaction"] > LONG_TRANSACTION_SECONDS:
        yield Finding(
            f"A transaction has been open for {_duration(row['oldest_transaction'])}, so tables cannot be vacuumed.",
            "Find it in pg_stat_activity and terminate it.",
        )
    if abs(row["now"] - facts.now) > SKEW_SECONDS:
        yield Finding(
            f"The clocks of this machine and of the database differ by {_duration(abs(row['now'] - facts.now))}.",
            "Synchronise both with a time server.",
        )


def _of_roles(facts: Facts) -> Iterator[Finding]:
    """Whether who gets hold of the server's connection could do more than the server has to."""
    if facts.configured and facts.database["owns_tables"]:
        yield Finding(
            "The database role of the server owns the tables, so it could drop or change them.",
            "Use another role in [db] dsn, and set [db] migrate_dsn: docs/operations.md, Separate database roles.",
            wrong=False,
        )
    if facts.database["elsewhere"] and not facts.database["encrypted"]:
        yield Finding(
            "The connection to PostgreSQL on another host is not encrypted.",
            "Set sslmode=verify-full and sslrootcert in [db] dsn and migrate_dsn.",
        )


def _of_running(facts: Facts) -> Iterator[Finding]:
    if facts.complaints is None:
        yield Finding(f"No server answers at {facts.base_url}.", "Start it: twistd crowdd, or crowdctl serve.")
    for words in facts.complaints or ():
        yield Finding(f"The running server is not ready: {words}", "See its log.")


def _of_jobs(facts: Facts) -> Iterator[Finding]:
    late = [job for job in facts.jobs if job["period"] and (job["overdue"] or 0) > OVERDUE_SECONDS]
    if late:
        longest = max(job["overdue"] for job in late)
        yield Finding(
            f"{len(late)} jobs are overdue, the longest by {_duration(longest)}.",
            "Jobs run only while a server is running.",
        )
    for job in facts.jobs:
        if job["failures"]:
            yield Finding(
                f"The job {job['name']} has failed {job['failures']} times in a row: {job['words']}",
                f"crowdctl jobs show {job['name']}",
            )


def _of_queue(facts: Facts) -> Iterator[Finding]:
    row = facts.database
    if row["queue_dead"]:
        yield Finding(
            f"{row['queue_dead']} background tasks have failed.",
            "To see why: crowdctl queue list --state dead. To run one again: crowdctl queue retry",
        )
    if row["queue_waits"] > WAITING_SECONDS:
        yield Finding(
            f"A background task has been due for {_duration(row['queue_waits'])}, but no worker runs it.",
            "Set [queue] workers above 0 on a running server, or: crowdctl queue work",
        )


def _of_letters(facts: Facts) -> Iterator[Finding]:
    row = facts.database
    if row["mail_dead"]:
        yield Finding(
            f"{row['mail_dead']} e-mails could not be delivered.", "To see why: crowdctl mail list --state dead"
        )
    if row["mail_held"]:
        yield Finding(
            f"{row['mail_held']} e-mails are held because mail was off.", "To send one: crowdctl mail send", wrong=False
        )


def _of_webhooks(facts: Facts) -> Iterator[Finding]:
    for hook in facts.webhooks:
        if hook["state"] in ("off", "failing"):
            name, how = hook["short_name"], "is switched off" if hook["state"] == "off" else "is failing"
            yield Finding(
                f"The webhook of {name} {how}. {hook['why_off']}".strip(),
                f"To see why: crowdctl webhook show {name}. To resume: crowdctl webhook on {name}",
            )


def _of_people(facts: Facts) -> Iterator[Finding]:
    if not facts.database["admins"]:
        yield Finding("The site has no administrator.", "To create the first one: crowdctl admin link")


def _of_backups(facts: Facts) -> Iterator[Finding]:
    """A place that has never seen a backup of ours may have another way; one whose backups have ended has a fault."""
    age, used = facts.database["last_backup"], (facts.database["first_project"] or 0.0) / _DAY
    if facts.backup_complaint:
        yield Finding(
            f"Scheduled backups fail. {facts.backup_complaint}", "See Backup and restore in docs/operations.md."
        )
    if not facts.backup_days:
        return
    todo = (
        "Run crowdctl backup FILE, or set [backups] dir. "
        "If you make backups in another way, set [data] backup_days = 0."
    )
    if age is None and used > facts.backup_days:
        yield Finding("No backup was made with crowdctl backup.", todo, wrong=False)
    if age is not None and age / _DAY > facts.backup_days:
        yield Finding(f"The last backup is {_duration(age)} old.", todo)


def _of_media(facts: Facts) -> Iterator[Finding]:
    if facts.media_complaint:
        yield Finding(f"Media files cannot be stored. {facts.media_complaint}", "See [media] in docs/configuration.md.")


def _of_replica(facts: Facts) -> Iterator[Finding]:
    replica = facts.replica
    if replica is None:
        return
    if isinstance(replica, str):
        yield Finding(
            f"The replica does not answer, so the primary serves exports and long lists. {replica}",
            "Start it, or correct [db] replica_dsn.",
        )
    elif not replica["follows"]:
        yield Finding("[db] replica_dsn names a server that is no replica.", "Let it name a streaming replica.")
    elif not facts.replica_current and replica["last_transaction"] > BEHIND_SECONDS:
        behind = _duration(replica["last_transaction"])
        yield Finding(
            f"The replica is {behind} behind, so the primary serves exports and long lists.",
            "Compare pg_stat_replication on the primary with the load and the disk of the replica.",
        )
    elif not replica["keeps_rows"]:
        yield Finding(
            "hot_standby_feedback is off on the replica: long exports may break off.",
            "Switch it on there.",
            wrong=False,
        )


def _of_system(facts: Facts) -> Iterator[Finding]:
    if not facts.bars_network:
        yield Finding(
            "This system has no seccomp filters, so the processes that read files of users can reach the network.",
            "Run crowdd on x86_64 or aarch64, and let it set filters: docs/operations.md, Processes without network.",
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
            f"{len(running)} servers run on this database, and each counts rate limits for itself.",
            "Set [ratelimit] shared = on, on every server, and restart them.",
        )
    if len({node["version"] for node in running}) > 1:
        versions = ", ".join(f"{node['name']} {node['version']}" for node in running)
        yield Finding(f"Servers run different versions: {versions}.", "Upgrade the others as well.", wrong=False)
    if not facts.drains:
        yield Finding(
            "[http] drain_delay is 0, so requests fail while a server is restarted behind a proxy.",
            "Set it to more than the proxy takes to notice that /ready answers 503.",
            wrong=False,
        )
