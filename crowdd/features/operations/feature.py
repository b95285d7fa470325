"""The periodic jobs of operations: backups, the chain of the audit log, and removal of old files and personal data."""

from __future__ import annotations

import time

from twisted.logger import Logger

from crowdd.core.uploads import Uploads
from crowdd.database.access import Database
from crowdd.features.media.store import MediaStore
from crowdd.features.operations import upload_gc
from crowdd.features.operations.audit_chain import AuditChain, sentence
from crowdd.features.operations.retention import Retention
from crowdd.features.people.personal_data import PersonalData
from crowdd.sched.job import DAY, HOUR, MINUTE, Job
from crowdd.services import Services

log = Logger()


async def _sweep_uploads(db: Database, uploads: Uploads, bucket: MediaStore | None) -> str:
    removed = await upload_gc.sweep(db, uploads)
    if bucket is not None:
        removed += await upload_gc.sweep_media(db, bucket)
    return f"{removed} removed"


def _bucket(services: Services) -> MediaStore | None:
    return services.media_store if services.settings.media.store == "s3" else None


# Remove uploaded files that nothing refers to: left by killed processes and by deleted projects.
SWEEP_UPLOADS_JOB = Job(
    "sweep_uploads", DAY, lambda services: _sweep_uploads(services.db, services.uploads, _bucket(services))
)


# Back up everything into the folder of backups, on servers that have one.
BACK_UP_JOB = Job(
    "back_up",
    DAY,
    lambda services: services.backups.make(),
    lambda settings: settings.backups.every_hours * HOUR if settings.backups.dir else None,
)


async def _chain(audit_chain: AuditChain) -> str:
    return f"{await audit_chain.extend()} rows"


# Chain new rows of the audit log by hashes.
CHAIN_AUDIT_JOB = Job("chain_audit", MINUTE, lambda services: _chain(services.audit_chain))


async def _sweep_exports(personal_data: PersonalData) -> str:
    return f"{await personal_data.sweep(time.time())} removed"


# Remove files of personal data after their expiry.
SWEEP_EXPORTS_JOB = Job("sweep_exports", HOUR, lambda services: _sweep_exports(services.people.personal_data))


async def _sweep_personal_data(retention: Retention) -> str:
    done = await retention.sweep()
    return f"{done['answers']} answers checked, {done['acts']} audit rows removed"


# Remove personal data that has been kept as long as the operator configured.
SWEEP_PERSONAL_DATA_JOB = Job(
    "sweep_personal_data", 24 * HOUR, lambda services: _sweep_personal_data(services.retention)
)


async def _verify(audit_chain: AuditChain) -> str:
    misfit = await audit_chain.verify()
    if misfit is None:
        return "the chain holds"
    log.error("audit log changed: {sentence}", sentence=sentence(misfit))
    return sentence(misfit)


# Verify the chain of the audit log, and log where it does not hold.
VERIFY_AUDIT_JOB = Job("verify_audit", DAY, lambda services: _verify(services.audit_chain))
