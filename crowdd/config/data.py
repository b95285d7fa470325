"""PostgreSQL, the data folder and background tasks."""

from __future__ import annotations

from pathlib import Path

import attrs

from crowdd.config.option import option
from crowdd.config.parsers import not_negative, positive


@attrs.frozen
class DbSettings:
    """``[db]``: PostgreSQL."""

    dsn: str = option(
        "",
        doc=(
            "libpq connection string. Leave it empty and `crowdctl serve` starts an embedded PostgreSQL. "
            "Prefer a socket folder or an IP address: looking up a host name blocks the server. Several hosts need "
            "target_session_attrs=read-write: the one that is the primary is used."
        ),
        fixed=True,
    )
    migrate_dsn: str = option(
        "",
        doc=(
            "Connection string for `crowdctl db upgrade`, with the role that owns the tables. Leave it empty "
            "if the role in dsn owns them."
        ),
    )
    replica_dsn: str = option(
        "",
        doc=(
            "Connection string of one streaming replica, with the same role and database, for exports and for lists "
            "that may read much of a table. Nobody sees less there: a read waits until the replica has what was "
            "committed, or the primary reads."
        ),
        fixed=True,
    )
    replica_timeout: int = option(
        1, positive, doc="How long a read waits for the replica before the primary reads, in seconds.", fixed=True
    )
    pool_size: int = option(8, positive, doc="Connections for the requests of one process.", fixed=True)
    max_queue: int = option(
        1000, positive, doc="Requests that may wait for a connection. Further ones get 503.", fixed=True
    )
    pool_timeout: int = option(
        5, positive, doc="How long a request waits for a connection before it gets 503, in seconds.", fixed=True
    )
    statement_timeout: int = option(10, positive, doc="Timeout of a single statement, in seconds.", fixed=True)
    slow_read_timeout: int = option(
        10,
        positive,
        doc=(
            "Timeout of a list that may read much of a table (full-text, filters on info, other orders, large "
            "offsets), in seconds. People without an account have 2 seconds at most."
        ),
        fixed=True,
    )


@attrs.frozen
class DataSettings:
    """``[data]``: files on disk beside the database."""

    dir: Path = option(
        Path("var"),
        Path,
        doc=(
            "Folder for secrets, uploads, logs and the embedded database. For an installation, give an "
            "absolute path such as /var/lib/crowdd."
        ),
        fixed=True,
    )
    postgres_user: str = option(
        "",
        doc=(
            "System user that runs the embedded PostgreSQL if crowdd is started as root. Default: postgres, "
            "else nobody."
        ),
        fixed=True,
    )
    min_free_bytes: int = option(
        100_000_000,
        not_negative,
        doc="Free space that the data folder needs, in bytes. With less, /ready reports that the server is not ready.",
    )
    backup_days: int = option(
        8, not_negative, doc="`crowdctl doctor` warns if the last backup is older than this many days. 0: never."
    )


@attrs.frozen
class BackupSettings:
    """``[backups]``: backups on a schedule."""

    dir: str = option(
        "",
        doc=(
            "Folder for scheduled backups, on another disk if possible. It must exist. Nobody else should be able to "
            "read it. Leave it empty on servers that make none."
        ),
        fixed=True,
    )
    every_hours: int = option(24, positive, doc="Hours between the end of a backup and the next.", fixed=True)
    keep_days: int = option(14, positive, doc="Days for which every scheduled backup is kept. The last one stays.")
    keep_weeks: int = option(
        8,
        not_negative,
        doc="Weeks for which the last scheduled backup of each week is kept. 0: none longer than keep_days.",
    )
    passphrase_file: str = option(
        "", doc="File with the passphrase of scheduled backups in its first line, at least 10 characters."
    )
    dsn: str = option(
        "",
        doc=(
            "Connection string of a standby that backups read, with a role that can read all tables. Leave it empty to "
            "read the database itself."
        ),
    )


@attrs.frozen
class QueueSettings:
    """``[queue]``: background tasks."""

    workers: int = option(
        2,
        not_negative,
        doc=(
            "Background tasks (imports, changes of many tasks) that a process runs at the same time. 0: "
            "none, other processes run them."
        ),
        fixed=True,
    )
