"""How often volunteers get gold tasks: the shares that a project sets in its ``info``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs


@attrs.frozen
class GoldShare:
    """The share of gold tasks among the tasks that a volunteer gets, 0 to ``maximum``."""

    default: float
    maximum: float


GOLD_SHARES: Final[Mapping[str, GoldShare]] = {"gold_rate": GoldShare(0.03, 0.5), "gold_start": GoldShare(0.3, 0.9)}
"""In the long run, and for newcomers: ``bench.trust`` shows what they cost and what they withstand."""
