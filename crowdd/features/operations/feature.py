"""Operation of a server: backups, audit log, retention, metrics, readiness, and their pages."""

from __future__ import annotations

import time

import attrs
from twisted.logger import Logger

from crowdd.core.audit_chain import AuditChain, sentence
from crowdd.core.base import Base
from crowdd.core.feature import Feature, House
from crowdd.core.uploads import Uploads
from crowdd.database.access import Database
from crowdd.features.media.feature import MediaFeature
from crowdd.features.media.store import MediaStore
from crowdd.features.operations import keys, upload_gc
from crowdd.features.operations.backups import ScheduledBackups
from crowdd.features.operations.retention import Retention
from crowdd.features.people.feature import PeopleFeature
from crowdd.features.people.personal_data import PersonalData
from crowdd.sched.job import DAY, HOUR, MINUTE, Job


@attrs.frozen
class OperationsFeature(Feature):
    """What those who run a server need."""

    base: Base
    retention: Retention
    backups: ScheduledBackups

    @classmethod
    def build(cls, base: Base) -> OperationsFeature:
        settings = base.settings
        retention = Retention(base.db, base.audit_chain, settings.retention)
        backups = ScheduledBackups(settings, base.worker_thread.another())
        return cls(base, retention, backups)

    async def prepare(self) -> None:
        """Compare the keys of this server with those that the database knows. Raises ServerKeyError."""
        await keys.reconcile_keys(self.base.db, self.base.settings.data.dir, self.base.secrets)


log = Logger()


async def _sweep_uploads(db: Database, uploads: Uploads, bucket: MediaStore | None) -> str:
    removed = await upload_gc.sweep(db, uploads)
    if bucket is not None:
        removed += await upload_gc.sweep_media(db, bucket)
    return f"{removed} removed"


def _bucket(house: House) -> MediaStore | None:
    return house[MediaFeature].media_store if house.base.settings.media.store == "s3" else None


# Remove uploaded files that nothing refers to: left by killed processes and by deleted projects.
SWEEP_UPLOADS_JOB = Job(
    "sweep_uploads", DAY, lambda house: _sweep_uploads(house.base.db, house.base.uploads, _bucket(house))
)


# Back up everything into the folder of backups, on servers that have one.
BACK_UP_JOB = Job(
    "back_up",
    DAY,
    lambda house: house[OperationsFeature].backups.make(),
    lambda settings: settings.backups.every_hours * HOUR if settings.backups.dir else None,
)


async def _chain(audit_chain: AuditChain) -> str:
    return f"{await audit_chain.extend()} rows"


# Chain new rows of the audit log by hashes.
CHAIN_AUDIT_JOB = Job("chain_audit", MINUTE, lambda house: _chain(house.base.audit_chain))


async def _sweep_exports(personal_data: PersonalData) -> str:
    return f"{await personal_data.sweep(time.time())} removed"


# Remove files of personal data after their expiry.
SWEEP_EXPORTS_JOB = Job("sweep_exports", HOUR, lambda house: _sweep_exports(house[PeopleFeature].personal_data))


async def _sweep_personal_data(retention: Retention) -> str:
    done = await retention.sweep()
    return f"{done['answers']} answers checked, {done['acts']} audit rows removed"


# Remove personal data that has been kept as long as the operator configured.
SWEEP_PERSONAL_DATA_JOB = Job(
    "sweep_personal_data", 24 * HOUR, lambda house: _sweep_personal_data(house[OperationsFeature].retention)
)


async def _verify(audit_chain: AuditChain) -> str:
    misfit = await audit_chain.verify()
    if misfit is None:
        return "the chain holds"
    log.error("audit log changed: {sentence}", sentence=sentence(misfit))
    return sentence(misfit)


# Verify the chain of the audit log, and log where it does not hold.
VERIFY_AUDIT_JOB = Job("verify_audit", DAY, lambda house: _verify(house.base.audit_chain))
