"""Publishing: a new project, its steps, and the checks before it is published."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.gallery.feature import GalleryFeature
from crowdd.features.publishing.publishing import PublishingChecks


@attrs.frozen
class PublishingFeature(Feature):
    """The way from nothing to a published project."""

    publishing_checks: PublishingChecks

    @classmethod
    def build(cls, base: Base, gallery: GalleryFeature) -> PublishingFeature:
        return cls(PublishingChecks(base.db, base.worker_thread, gallery.gallery))
