"""The process that makes a scheduled backup, and gives way to requests: ``process`` starts it.

    python -m crowdd.domain.server.backups.program

Its environment has the settings. It prints one JSON object: ``words`` for the log, or ``error``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from crowdd.concurrency.child_process import watch_server
from crowdd.concurrency.process_limits import yield_to_requests
from crowdd.config import Settings, load
from crowdd.domain.server.backups import folder, passphrase
from crowdd.domain.server.backups.backup import Databases, Made
from crowdd.errors import CrowddError


def main() -> int:
    """Makes a backup."""
    yield_to_requests(19)
    watch_server()
    try:
        report = {"words": words(make(load(None)))}
    except CrowddError as error:
        report = {"error": f"{error} {error.hint}".rstrip()}
    except OSError as error:
        report = {"error": f"{error.filename or 'The system'}: {error.strerror or error}."}
    sys.stdout.buffer.write(orjson.dumps(report))
    return 0


def make(settings: Settings) -> Made:
    """A backup by the settings alone."""
    owner = settings.db.migrate_dsn or settings.db.dsn
    databases = Databases(settings.backups.dsn or owner, owner)
    word = passphrase.read(Path(settings.backups.passphrase_file))
    return folder.make(settings, databases, word, lambda what, number: None)


def words(made: Made) -> str:
    """What the log of jobs says."""
    missing = f", {made.missing} missing" if made.missing else ""
    return (
        f"{Path(made.path).name}: {made.bytes:,} bytes, {sum(made.rows.values()):,} rows, "
        f"{made.files:,} files ({made.new_files:,} new{missing})"
    )


if __name__ == "__main__":
    sys.exit(main())
