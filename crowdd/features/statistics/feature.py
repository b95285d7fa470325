"""Statistics: figures of projects and of the site, and live updates."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.statistics.live_updates import Broadcast, Live
from crowdd.features.statistics.statistics import Statistics


@attrs.frozen
class StatisticsFeature(Feature):
    """Figures. ``broadcast`` tells them to those of a process who watch a project."""

    statistics: Statistics
    live: Live
    broadcast: Broadcast

    @classmethod
    def build(
        cls,
        base: Base,
    ) -> StatisticsFeature:
        live, shared = Live(base.db), base.shared
        broadcast = shared.once("broadcast", lambda: Broadcast(shared.reactor, live, shared.change_notifier))
        return cls(Statistics(base.db, base.records), live, broadcast)
