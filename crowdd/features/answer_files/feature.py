"""Files of answers: what takes, keeps, opens and removes them."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.answer_files.answer_files import AnswerFiles
from crowdd.features.media.feature import MediaFeature
from crowdd.features.media.incoming_files import IncomingFiles
from crowdd.features.media.preparation import LimitedPreparation
from crowdd.kernel.concurrency.worker_thread import WorkerThread

_MAX_PIXELS = 60_000_000


@attrs.frozen
class AnswerFilesFeature(Feature):
    """What volunteers send with their answers."""

    answer_files: AnswerFiles

    @classmethod
    def build(cls, base: Base, media: MediaFeature) -> AnswerFilesFeature:
        reactor, settings, data = base.shared.reactor, base.settings.media, base.settings.data
        # Not the threads of owners: volunteers do not wait for a batch of thousands of files, and a batch not for them.
        thread = base.shared.once("thread of answer files", lambda: WorkerThread(reactor))
        smaller = attrs.evolve(settings, tile_pixels=0, max_pixels=min(settings.max_pixels, _MAX_PIXELS), max_pages=1)
        return cls(
            AnswerFiles(
                base.db,
                base.records,
                base.attempts,
                base.quota,
                IncomingFiles(data.dir / "answer-files", data.min_free_bytes),
                base.worker_thread.another(),
                LimitedPreparation(thread, smaller),
                media.media_store,
            )
        )
