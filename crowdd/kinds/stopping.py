"""The rule by which tasks of a project complete before they have all their answers (``info.trust``)."""

from __future__ import annotations

from typing import Final

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

STOPPING: Final = "trust"
"""The key of ``info``: ``{"min_answers", "confidence"}``, or null."""
MAX_ANSWERS: Final = 50
"""Tasks that need more answers than this do not stop early."""
MIN_CONFIDENCE, MAX_CONFIDENCE = 0.5, 0.999


def check_stopping(value: object) -> None:
    """Refuses anything but null and ``{"min_answers", "confidence"}`` within their limits."""
    if value is None:
        return
    if not isinstance(value, dict) or set(value) != {"min_answers", "confidence"}:
        raise InvalidValueError(_("`info.trust` must be an object with `min_answers` and `confidence`, or null."))
    minimum, confidence = value["min_answers"], value["confidence"]
    if type(minimum) is not int or not 1 <= minimum <= MAX_ANSWERS:
        raise InvalidValueError(
            _("`info.trust.min_answers` must be a whole number from 1 to %(max)s.", max=MAX_ANSWERS)
        )
    if type(confidence) not in (int, float) or not MIN_CONFIDENCE <= confidence <= MAX_CONFIDENCE:
        words = _(
            "`info.trust.confidence` must be a number from %(min)s to %(max)s.", min=MIN_CONFIDENCE, max=MAX_CONFIDENCE
        )
        raise InvalidValueError(words)
