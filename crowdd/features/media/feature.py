"""Media files: where they are kept, and the process that prepares them."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.media.preparation import LimitedPreparation
from crowdd.features.media.prepared import MediaPreparation
from crowdd.features.media.store import MediaNames, MediaStore
from crowdd.features.media.stores import media_store
from crowdd.kernel.concurrency.worker_thread import WorkerThread


@attrs.frozen
class MediaFeature(Feature):
    """Where media files are, what they are called, and what prepares them."""

    media_store: MediaStore
    media_names: MediaNames
    media_preparation: MediaPreparation

    @classmethod
    def build(cls, base: Base) -> MediaFeature:
        reactor, settings = base.shared.reactor, base.settings
        thread = base.shared.once("media thread", lambda: WorkerThread(reactor))
        return cls(
            media_store=base.shared.once(
                "media store", lambda: media_store(reactor, settings.media, settings.data.dir / "uploads")
            ),
            media_names=MediaNames(base.uploads.key),
            media_preparation=LimitedPreparation(thread, settings.media),
        )
