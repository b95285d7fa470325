"""The program that makes a scheduled backup, and gives way to requests: ``ScheduledBackups`` starts it.

Its environment has the settings.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from crowdd.features.operations import backups
from crowdd.features.operations.backups import Databases, Made
from crowdd.kernel.concurrency.isolated import Limits
from crowdd.kernel.config import Settings, load
from crowdd.kernel.errors import CrowddError

LIMITS = Limits(niceness=19, network=True)


def make() -> bytes:
    """Makes a backup. A JSON object: ``words`` for the log, or ``error``."""
    try:
        report = {"words": describe_backup(make_by_settings(load(None)))}
    except CrowddError as error:
        report = {"error": f"{error} {error.hint}".rstrip()}
    except OSError as error:
        report = {"error": f"{error.filename or 'The system'}: {error.strerror or error}."}
    return orjson.dumps(report)


def make_by_settings(settings: Settings) -> Made:
    """A backup by the settings alone."""
    owner = settings.db.migrate_dsn or settings.db.dsn
    databases = Databases(settings.backups.dsn or owner, owner)
    word = backups.read_passphrase(settings)
    return backups.make_backup(settings, databases, word, lambda what, number: None)


def describe_backup(made: Made) -> str:
    """What the log of jobs says."""
    missing = f", {made.missing} missing" if made.missing else ""
    return (
        f"{Path(made.path).name}: {made.bytes:,} bytes, {sum(made.rows.values()):,} rows, "
        f"{made.files:,} files ({made.new_files:,} new{missing})"
    )
