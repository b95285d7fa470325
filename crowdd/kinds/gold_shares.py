"""What a project sets for its gold tasks in its ``info``: how often volunteers get them, and when all may know them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _


@attrs.frozen
class GoldShare:
    """The share of gold tasks among the tasks that a volunteer gets, 0 to ``maximum``."""

    default: float
    maximum: float


GOLD_SHARES: Final[Mapping[str, GoldShare]] = {"gold_rate": GoldShare(0.03, 0.5), "gold_start": GoldShare(0.3, 0.9)}
"""In the long run, and for newcomers: ``bench.trust`` shows what they cost and what they withstand."""
GOLD_EMBARGO: Final = "gold_embargo"
"""The key of the day from which on snapshots have gold tasks, too."""


def check_embargo(value: object) -> None:
    """Refuses anything but null and a day like ``2027-01-31``."""
    try:
        if value is None or (isinstance(value, str) and date.fromisoformat(value).isoformat() == value):
            return
    except ValueError:
        pass
    raise InvalidValueError(_("`info.gold_embargo` must be a day such as 2027-01-31, or null."))
