"""Pauses that grow after failures."""

from __future__ import annotations

_MAX_STEPS = 100  # a larger exponent could overflow


def back_off(failures: int, first: float, growth: float, longest: float) -> float:
    """Seconds to wait after so many failures in a row: ``first``, then ``growth`` times as long, up to ``longest``."""
    return min(longest, first * growth ** min(max(failures - 1, 0), _MAX_STEPS))
