"""The process that makes a scheduled backup, and gives way to requests: ``process`` starts it.

    python -m crowdd.features.operations.backup_program

Its environment has the settings. It prints one JSON object: ``words`` for the log, or ``error``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from crowdd.core import passphrase
from crowdd.features.operations import backups
from crowdd.features.operations.backups import Databases, Made
from crowdd.kernel.concurrency.isolated import watch_server, yield_to_requests
from crowdd.kernel.config import Settings, load
from crowdd.kernel.errors import CrowddError


def main() -> int:
    """Makes a backup."""
    yield_to_requests(19)
    watch_server()
    try:
        report = {"words": describe_backup(make_by_settings(load(None)))}
    except CrowddError as error:
        report = {"error": f"{error} {error.hint}".rstrip()}
    except OSError as error:
        report = {"error": f"{error.filename or 'The system'}: {error.strerror or error}."}
    sys.stdout.buffer.write(orjson.dumps(report))
    return 0


def make_by_settings(settings: Settings) -> Made:
    """A backup by the settings alone."""
    owner = settings.db.migrate_dsn or settings.db.dsn
    databases = Databases(settings.backups.dsn or owner, owner)
    word = passphrase.read(Path(settings.backups.passphrase_file))
    return backups.make_backup(settings, databases, word, lambda what, number: None)


def describe_backup(made: Made) -> str:
    """What the log of jobs says."""
    missing = f", {made.missing} missing" if made.missing else ""
    return (
        f"{Path(made.path).name}: {made.bytes:,} bytes, {sum(made.rows.values()):,} rows, "
        f"{made.files:,} files ({made.new_files:,} new{missing})"
    )


if __name__ == "__main__":
    sys.exit(main())
