"""What volunteers get back: contributions, certificates, leaderboards."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.database.access import Database
from crowdd.features.recognition import statements
from crowdd.features.recognition.certificates import Certificates
from crowdd.features.recognition.contributions import Boards, OwnContributions
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.sched.job import MINUTE, Job


@attrs.frozen
class RecognitionFeature(Feature):
    """Who gave what. ``thread`` draws certificates."""

    contributions: OwnContributions
    certificates: Certificates
    boards: Boards
    thread: WorkerThread

    @classmethod
    def build(cls, base: Base) -> RecognitionFeature:
        db = base.db
        return cls(OwnContributions(db), Certificates(db, base.attempts), Boards(db), base.worker_thread.another())


async def _count(db: Database) -> str:
    measured = await statements.measure_paces(db)
    return f"{measured} projects measured, {await statements.count_boards(db)} places changed"


# Measure how long answers take, and count the leaderboards by time.
COUNT_BOARDS_JOB = Job("count_boards", 10 * MINUTE, lambda house: _count(house.base.db))
