"""What a snapshot says of the quality of its results; ``recompute.py`` works it out again from the files."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import attrs

from crowdd.features.results.alpha import MIN_TASKS, around
from crowdd.features.results.consensus import wilson_interval
from crowdd.features.snapshots.canonical_json import dumps
from crowdd.features.trust.recalibration import measured
from crowdd.features.trust.rows import Recalibration
from crowdd.kernel.values import Json, Values

FIGURES: Final = "figures.json"
_NONE: Final = -1


@attrs.define(eq=False)
class Figures:
    """Collects answers and results in the order in which tables have them. ``first_answers``: so many of a task matter.

    Where tasks stop early, those with more answers are the disputed ones. ``recalibration``: the curve by which
    confidence is measured.
    """

    first_answers: int | None = None
    recalibration: Recalibration | None = None
    _numbers: dict[bytes, int] = attrs.field(factory=dict)
    _classes: array[int] = attrs.field(factory=lambda: array("h"))
    _totals: Counter[int] = attrs.field(factory=Counter)
    _observed: Fraction = Fraction(0)
    _spread: Fraction = Fraction(0)
    _tasks: int = 0
    _drawn: int = 0
    _right: int = 0

    def note_answer(self, class_: Json, fits: bool | None) -> None:
        """The next answer: the choice that it says, if it fits the first answer field."""
        self._classes.append(self._numbers.setdefault(dumps(class_), len(self._numbers)) if fits else _NONE)

    def note_result(self, answers: Sequence[int], model: Values | None, sample: int | None, *, last: bool) -> None:
        """A result of these answers. ``sample``: the class that an expert said without seeing it."""
        if sample is not None and model is not None:
            self._drawn += 1
            self._right += model["class"] == sample
        if not last:
            return
        classes = [self._classes[number - 1] for number in answers]
        classes = [each for each in classes if each != _NONE][: self.first_answers]
        if len(classes) < 2:
            return
        counts = Counter(classes)
        self._tasks += 1
        self._totals.update(counts)
        observed = Fraction(len(classes) ** 2 - sum(n * n for n in counts.values()), len(classes) - 1)
        self._observed += observed
        self._spread += observed**2

    def stated(self) -> Values:
        """Krippendorff's ``alpha`` (nominal), ``accuracy``: how many drawn results are right, and the curve."""
        curve = None if self.recalibration is None else dict(self.recalibration)
        return {"alpha": self._alpha(), "accuracy": self._accuracy(), "recalibration": curve}

    def confidence_of(self, posterior: Sequence[float]) -> float | None:
        """What was measured of results with such a posterior, with all its digits."""
        return None if self.recalibration is None else measured(self.recalibration, max(posterior))

    def _alpha(self) -> Values | None:
        n = self._totals.total()
        expected = n * n - sum(each * each for each in self._totals.values())
        if not expected:
            return None
        chance, tasks = Fraction(expected, n * (n - 1)), self._tasks
        alpha, low, high = float(1 - self._observed / n / chance), None, None
        if tasks >= MIN_TASKS and self._observed:
            variance = (self._spread - self._observed**2 / tasks) * tasks / (tasks - 1) / n**2
            low, high = around(alpha, float(variance), float(chance))
        counts: Values = {"tasks": tasks, "answers": n, "first_answers": self.first_answers}
        method = "standard error over tasks, 95 %"
        return {"value": alpha, "low": low, "high": high, **counts, "interval": method}

    def _accuracy(self) -> Values | None:
        if not self._drawn:
            return None
        low, high = wilson_interval(self._right, self._drawn)
        share = self._right / self._drawn
        return {"share": share, "low": low, "high": high, "n": self._drawn, "interval": "Wilson, 95 %"}
