"""Favourites, collections of projects, and what a person has taken part in."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.community.collections import Collections
from crowdd.features.community.favourites import Favourites, Participation


@attrs.frozen
class CommunityFeature(Feature):
    """What volunteers keep for themselves."""

    favourites: Favourites
    collections: Collections
    participation: Participation

    @classmethod
    def build(cls, base: Base) -> CommunityFeature:
        db, records = base.db, base.records
        return cls(Favourites(db, records), Collections(db, records), Participation(db))
