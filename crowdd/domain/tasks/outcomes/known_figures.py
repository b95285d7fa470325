"""What is known of a volunteer, as figures: gold tasks, agreement, accuracy, and how long answers take."""

from __future__ import annotations

from datetime import datetime

import attrs

from crowdd.domain.tasks.outcomes.intervals import share_interval
from crowdd.storage.tasks.review.rows import KnownVolunteer


@attrs.frozen
class KnownFigures:
    """Gold tasks that were right, of how many, and the 95 % interval of the share; agreement with results; accuracy.

    Each is None while there is nothing to tell it by. ``seconds`` is the median of the newest answers.
    """

    gold_right: float | None
    gold_seen: float | None
    gold_low: float | None
    gold_high: float | None
    agreement: float | None
    accuracy: float | None
    counts: bool
    lifted: bool
    seconds: float | None
    last_active: datetime | None

    @classmethod
    def of(cls, row: KnownVolunteer) -> KnownFigures:
        """The figures of a row."""
        seen = row["gold_seen"] or None
        low, high = share_interval(row["gold_right"] or 0, seen) if seen else (None, None)
        peers = row["peer_seen"] or None
        return cls(
            gold_right=row["gold_right"] if seen else None,
            gold_seen=seen,
            gold_low=low,
            gold_high=high,
            agreement=(row["peer_right"] or 0) / peers if peers else None,
            accuracy=row["accuracy"],
            counts=row["counts"],
            lifted=row["lifted"],
            seconds=row["seconds"],
            last_active=row["last_active"],
        )
