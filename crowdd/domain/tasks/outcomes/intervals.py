"""Where a share lies, by what was counted: intervals of the beta distribution."""

from __future__ import annotations

import math

_LEVEL = 0.95
_TINY = 1e-300


def share_interval(right: float, seen: float) -> tuple[float, float]:
    """The central 95 % interval of a share, by ``right`` of ``seen``. Before, every share is as likely.

    The counts need not be whole: they are halved from time to time.
    """
    a, b = right + 1, max(seen - right, 0) + 1
    return _quantile((1 - _LEVEL) / 2, a, b), _quantile((1 + _LEVEL) / 2, a, b)


def _quantile(share: float, a: float, b: float) -> float:
    """The x below which this share of the beta distribution lies, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def below(x: float, a: float, b: float) -> float:
    """How much of the beta distribution lies below x: the regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - below(1 - x, b, a)
    leading = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    )
    return leading / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by the method of Lentz."""
    value, up, down = 1.0, 1.0, 0.0
    for n in range(1, 300):
        m = n // 2
        if n % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        down = 1 / (1 + term * down or _TINY)
        up = 1 + term / up or _TINY
        value *= up * down
        if abs(up * down - 1) < 1e-12:
            break
    return value
