"""When a delivery is tried again, when it is given up, and when its webhook is switched off: pure decisions."""

from __future__ import annotations

import attrs

from crowdd.kernel.concurrency.timing import back_off

ATTEMPTS = 10
GROWTH = 5
MAX_FACTOR = 17_280  # times the first delay: a day, when that is 5 seconds
JITTER = 0.15  # of the delay, to either side
FAILING = 2  # failures in a row after which the receiver is asked with one delivery at a time
IN_FLIGHT = 8  # at one receiver
MAX_IN_FLIGHT = 256  # at all of them


@attrs.frozen
class DeliveryFailure:
    """How a delivery failed. ``gone``: 410; ``wait``: seconds that the receiver asked for (Retry-After), or 0."""

    gone: bool = False
    wait: float = 0.0


@attrs.frozen
class ReceiverHealth:
    """Failures in a row, whether the webhook is on, and whether an attempt overlaps the last one that failed."""

    failures: int
    active: bool
    overlapping: bool


@attrs.frozen
class Verdict:
    """What follows of a failure. ``delay`` in seconds; ``failures`` in a row at this receiver, this one included.

    ``given_up``: this delivery is not tried again. ``off``: the webhook is switched off, and what was under way waits.
    """

    given_up: bool
    delay: float
    failures: int
    off: bool


def delay(attempts: int, first: float, chance: float) -> float:
    """Seconds until the next attempt after so many; ``chance`` from 0 to 1 spreads them.

    With a first delay of 5 s: 5 s, 25 s, 2 min, 10 min, 52 min, 4.3 h, 21.7 h, 1 day, 1 day; three days in all.
    """
    return back_off(attempts, first, GROWTH, first * MAX_FACTOR) * (1 + JITTER * (2 * chance - 1))


def after_failure(
    failure: DeliveryFailure, attempts: int, health: ReceiverHealth, first: float, chance: float
) -> Verdict:
    """What becomes of a delivery after its ``attempts``-th attempt failed.

    ``health.failures`` were in a row before it. One that had begun before the last of these ended (``overlapping``)
    says nothing new about the receiver. A delivery is given up only while its webhook stays on (``active``: it was on
    until now): what was under way when it was switched off is sent when it is switched on again.
    """
    in_a_row = health.failures if health.overlapping and health.failures else health.failures + 1
    pause = max(delay(attempts, first, chance), min(failure.wait, first * MAX_FACTOR))
    off = failure.gone or in_a_row >= ATTEMPTS
    return Verdict(attempts >= ATTEMPTS and health.active and not off, pause, in_a_row, off)


def room(at_receiver: int, in_all: int) -> int:
    """How many more deliveries a receiver may get now: the fuller it is, the fewer, so that slow ones leave some."""
    share = IN_FLIGHT if in_all < MAX_IN_FLIGHT // 2 else 2 if in_all < MAX_IN_FLIGHT * 3 // 4 else 1
    return max(0, min(share - at_receiver, MAX_IN_FLIGHT - in_all))
