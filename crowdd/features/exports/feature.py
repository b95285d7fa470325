"""Exports: files of tasks, answers and results, and what programs follow."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.database.connector import list_session_settings
from crowdd.database.copying import Copies
from crowdd.features.exports.exports import Exports
from crowdd.features.exports.file_writer import Resources
from crowdd.features.exports.spools import DownloadLimits, KeptSpools, Spools
from crowdd.sched.job import HOUR, Job

_COPY_SECONDS = 600  # for each statement that begins a file


@attrs.frozen
class ExportsFeature(Feature):
    """What leaves as files. ``resources``: what files of a process are read and limited by."""

    resources: Resources
    exports: Exports

    @classmethod
    def build(cls, base: Base) -> ExportsFeature:
        data, shared = base.settings.data, base.shared
        resources = shared.once("export resources", lambda: _resources(base))
        spools, thread = Spools(data.dir / "spool", data.min_free_bytes), base.worker_thread.another()
        exports = Exports(base.db, resources, spools, base.base_url, base.secrets.key("mask"), thread)
        return cls(resources, exports)


def _resources(base: Base) -> Resources:
    reactor, db = base.shared.reactor, base.settings.db
    return Resources(
        base.shared.reading,
        Copies(reactor, db.dsn, list_session_settings(_COPY_SECONDS), db.replica_dsn),
        base.shared.file_turns,
        DownloadLimits(reactor, base.settings.exports),
        KeptSpools(reactor),
    )


async def _sweep_deletions(exports: Exports) -> str:
    return f"{await exports.forget_deletions()} deletions forgotten"


JOB = Job("sweep_deletions", 24 * HOUR, lambda house: _sweep_deletions(house[ExportsFeature].exports))
