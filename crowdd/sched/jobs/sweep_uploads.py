"""Remove uploaded files that nothing refers to: left by killed processes and by deleted projects."""

from __future__ import annotations

from crowdd.domain.core.uploads import Uploads
from crowdd.domain.media.store import MediaStore
from crowdd.domain.server import upload_gc
from crowdd.domain.server.services import Services
from crowdd.sched.job import DAY, Job
from crowdd.storage.database import Database


async def _sweep_uploads(db: Database, uploads: Uploads, bucket: MediaStore | None) -> str:
    removed = await upload_gc.sweep(db, uploads)
    if bucket is not None:
        removed += await upload_gc.sweep_media(db, bucket)
    return f"{removed} removed"


def _bucket(services: Services) -> MediaStore | None:
    return services.media_store if services.settings.media.store == "s3" else None


JOB = Job("sweep_uploads", DAY, lambda services: _sweep_uploads(services.db, services.uploads, _bucket(services)))
