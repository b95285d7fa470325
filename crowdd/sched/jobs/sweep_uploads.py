"""Remove uploaded files that nothing refers to: left by killed processes and by deleted projects."""

from __future__ import annotations

from crowdd.domain.core.uploads import Uploads
from crowdd.domain.server import upload_gc
from crowdd.sched.job import DAY, Job
from crowdd.storage.database import Database


async def _sweep(db: Database, uploads: Uploads) -> str:
    return f"{await upload_gc.sweep(db, uploads)} removed"


JOB = Job("sweep_uploads", DAY, lambda services: _sweep(services.db, services.uploads))
