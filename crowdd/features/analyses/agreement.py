"""How far volunteers agree, beyond chance: coefficients with intervals, by class, by pair of volunteers, and by task.

Only tasks with two answers or more agree or differ. Tasks are drawn again (bootstrap, Efron 1979): an interval says how
much a figure would differ with other tasks and the same volunteers. Tasks with the same answers are drawn together.

* Krippendorff's alpha (2011), with distances for classes that are names, ranks, differences or ratios.
* Fleiss' kappa (1971), and Gwet's AC1 and AC2 (2014), the last with weights for ranks. A task counts once, however many
  answers it has, and those with one answer tell how frequent classes are (as in irrCAC).
* Of a class: how often another answer to a task says it, too, if one does (specific agreement, Cicchetti, Feinstein
  1990).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import attrs

from crowdd.features.analyses.methods import Answers, Reals
from crowdd.features.results.consensus import wilson_interval
from crowdd.features.results.rows import AgreementMeasure, ClassAgreement, DifficultTask, PairAgreement
from crowdd.kernel.lazy import lazy
from crowdd.kernel.values import Json, Values
from crowdd.kinds.answers.fields import key

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

NAME: Final = "agreement"
"""The method of analyses that has these figures."""
DRAWS: Final = 1000
MAX_PAIRS: Final = 100
MAX_DIFFICULT: Final = 100
_LEVEL: Final = (2.5, 97.5)  # per cent
_MIN_DEFINED: Final = 0.95  # of the draws; with fewer there is no interval


@attrs.frozen
class Scale:
    """What classes mean: the ``choices``, those with an order left to right but for ``unordered`` ones (can't tell).

    ``seed``: of the draws.
    """

    choices: Sequence[Json]
    unordered: Sequence[Json]
    seed: int

    @property
    def ordered(self) -> list[int]:
        """The places of the choices that have an order; null has none."""
        out = {key(one) for one in (None, *self.unordered)}
        return [nth for nth, one in enumerate(self.choices) if key(one) not in out]


@attrs.frozen(eq=False)
class Patterns:
    """How many answers to a task say each class (patterns x classes), and how many ``tasks`` are like that."""

    counts: Reals
    tasks: Reals

    @classmethod
    def of(cls, counts: Reals) -> Patterns:
        """From a row for each task; those without an answer are left out."""
        rows, tasks = np.unique(counts[counts.sum(axis=1) > 0], axis=0, return_counts=True)
        return cls(rows, tasks.astype(np.float64))

    def only(self, classes: Sequence[int]) -> Patterns:
        """Without the answers that say other classes."""
        return Patterns.of(np.repeat(self.counts[:, classes], self.tasks.astype(int), axis=0))

    @property
    def sizes(self) -> Reals:
        """How many answers a task has."""
        return self.counts.sum(axis=1)

    @property
    def n_tasks(self) -> int:
        """Those with two answers or more."""
        return int(self.tasks[self.sizes > 1].sum())

    @property
    def n_answers(self) -> int:
        """To those."""
        return int((self.tasks * self.sizes)[self.sizes > 1].sum())

    def draws(self, seed: int) -> Reals:
        """How often each pattern is drawn: draws x patterns."""
        n = self.tasks.sum()
        return np.random.default_rng(seed).multinomial(int(n), self.tasks / n, DRAWS).astype(np.float64)

    def coincidences(self, tasks: Reals) -> Reals:
        """Ordered pairs of answers to a task by their classes, each task with its number of answers in all."""
        weights = np.where(self.sizes > 1, tasks / np.maximum(self.sizes - 1, 1), 0)
        pairs: Reals = (self.counts * weights[:, None]).T @ self.counts
        pairs -= np.diag(weights @ self.counts)
        return pairs


# ------------------------------------------------------------------------------------------------------- coefficients


def alpha(pairs: Reals, distances: Callable[[Reals], Reals]) -> float:
    """Krippendorff's, of ``Patterns.coincidences``; not a number where all answers are the same."""
    totals = pairs.sum(axis=1)
    n, squares = totals.sum(), distances(totals)
    if n < 2:
        return float("nan")
    expected = (totals @ squares @ totals) / (n * (n - 1))
    return float(1 - (pairs * squares).sum() / n / expected) if expected > 0 else float("nan")


def nominal(totals: Reals) -> Reals:
    """Classes that are names."""
    return 1 - np.eye(len(totals))


def ordinal(totals: Reals) -> Reals:
    """Classes that are ranks: the answers that lie between two of them, half of those two included."""
    upto = np.cumsum(totals) - totals / 2
    return np.subtract.outer(upto, upto) ** 2


def interval(values: Reals) -> Callable[[Reals], Reals]:
    """Classes that are numbers whose differences say something."""
    return lambda _totals: np.subtract.outer(values, values) ** 2


def ratio(values: Reals) -> Callable[[Reals], Reals]:
    """Numbers, none below 0, that are compared by their ratios."""
    sums = np.add.outer(values, values)
    return lambda _totals: (np.subtract.outer(values, values) / np.where(sums > 0, sums, 1)) ** 2


def rank_weights(k: int) -> Reals:
    """Gwet's ordinal weights: 1 for the same class, 0 for the two that are furthest apart."""
    apart = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    return 1 - (apart * (apart + 1)) / (k * (k - 1))


def beyond_chance(of: Patterns, tasks: Reals, weights: Reals, *, gwet: bool) -> float:
    """Gwet's AC with these weights, or Fleiss' kappa; not a number where chance is 1."""
    sizes, k, several = of.sizes, of.counts.shape[1], of.sizes > 1
    if not tasks[several].sum():
        return float("nan")
    agree = (of.counts * (of.counts @ weights - 1)).sum(axis=1)[several] / (sizes * (sizes - 1))[several]
    observed = (tasks[several] @ agree) / tasks[several].sum()
    shares = (tasks @ (of.counts / sizes[:, None])) / tasks.sum()
    chance = weights.sum() / (k * (k - 1)) * (shares @ (1 - shares)) if gwet else shares @ weights @ shares
    return float((observed - chance) / (1 - chance)) if chance < 1 else float("nan")


def of_classes(of: Patterns, tasks: Reals) -> Reals:
    """The specific agreement of each class; not a number for one that nobody says."""
    sizes = of.sizes
    same = tasks @ (of.counts * (of.counts - 1))
    possible = tasks @ (of.counts * (sizes - 1)[:, None])
    return np.divide(same, possible, out=np.full(len(same), np.nan), where=possible > 0)


# ------------------------------------------------------------------------------------------------------------- figures


def figures(
    answers: Answers, tasks: Sequence[int], actors: Sequence[str], classes: Sequence[int], scale: Scale
) -> Values:
    """What is stored of answers: AgreementFigures without what was checked. ``classes``: the numbers of the labels."""
    counts = np.zeros((answers.n_tasks, len(scale.choices)))
    counts[:, np.array(classes) - 1] = answers.votes()
    of = Patterns.of(counts)
    if not of.n_tasks:
        return {"tasks": 0, "answers": 0, "measures": [], "classes": [], "pairs": [], "difficult": []}
    drawn = of.draws(scale.seed)
    return {
        "tasks": of.n_tasks,
        "answers": of.n_answers,
        "measures": [*_of_names(of, drawn), *_of_ranks(of, scale)],
        "classes": _classes(of, drawn, scale.choices),
        "pairs": _pairs(answers, actors),
        "difficult": _difficult(counts, tasks),
    }


def _of_names(of: Patterns, drawn: Reals) -> list[AgreementMeasure]:
    equal = np.eye(max(of.counts.shape[1], 2))
    wide = Patterns(np.pad(of.counts, ((0, 0), (0, len(equal) - of.counts.shape[1]))), of.tasks)
    return [
        _measure("alpha_nominal", of, drawn, lambda tasks: alpha(of.coincidences(tasks), nominal)),
        _measure("fleiss_kappa", of, drawn, lambda tasks: beyond_chance(wide, tasks, equal, gwet=False)),
        _measure("gwet_ac1", of, drawn, lambda tasks: beyond_chance(wide, tasks, equal, gwet=True)),
    ]


def _of_ranks(everything: Patterns, scale: Scale) -> list[AgreementMeasure]:
    """Of the answers that say a choice with an order."""
    ordered = scale.ordered
    of = everything.only(ordered) if len(ordered) > 2 else None
    if of is None or not of.n_tasks:
        return []
    drawn, weights = of.draws(scale.seed), rank_weights(len(ordered))
    kinds = {"alpha_ordinal": ordinal}
    values = [scale.choices[place] for place in ordered]
    if all(type(one) in (int, float) for one in values):
        numbers = np.array(values, dtype=np.float64)
        kinds |= {"alpha_interval": interval(numbers)} | ({"alpha_ratio": ratio(numbers)} if min(numbers) >= 0 else {})
    alphas = [
        _measure(name, of, drawn, partial(lambda distances, tasks: alpha(of.coincidences(tasks), distances), distances))
        for name, distances in kinds.items()
    ]
    return [*alphas, _measure("gwet_ac2", of, drawn, lambda tasks: beyond_chance(of, tasks, weights, gwet=True))]


def _measure(name: str, of: Patterns, drawn: Reals, coefficient: Callable[[Reals], float]) -> AgreementMeasure:
    value = coefficient(of.tasks)
    low, high = _between(np.array([coefficient(tasks) for tasks in drawn]))
    return AgreementMeasure(
        name=name,
        value=None if np.isnan(value) else float(value),
        low=low,
        high=high,
        tasks=of.n_tasks,
        answers=of.n_answers,
    )


def _between(values: Reals) -> tuple[float, float] | tuple[None, None]:
    """The central 95 % of what draws gave; nothing where too many have no figure."""
    defined = values[~np.isnan(values)]
    if len(defined) < _MIN_DEFINED * len(values):
        return None, None
    low, high = np.percentile(defined, _LEVEL)
    return float(low), float(high)


def _classes(of: Patterns, drawn: Reals, values: Sequence[Json]) -> list[ClassAgreement]:
    shares = of_classes(of, of.tasks)
    again = np.array([of_classes(of, tasks) for tasks in drawn])
    totals = np.where(of.sizes > 1, of.tasks, 0) @ of.counts
    rows = []
    for nth, value in enumerate(values):
        low, high = _between(again[:, nth])
        share = None if np.isnan(shares[nth]) else float(shares[nth])
        rows.append(ClassAgreement(value=value, answers=int(totals[nth]), agreement=share, low=low, high=high))
    return rows


def _pairs(answers: Answers, actors: Sequence[str]) -> list[PairAgreement]:
    """The pairs with the most tasks in common: of how many they say the same."""
    order = np.argsort(answers.task, kind="stable")
    task, who, label = answers.task[order], answers.volunteer[order].astype(np.int64), answers.label[order]
    keys, same = [], []
    for apart in range(1, int(np.bincount(task).max())):
        both = task[apart:] == task[:-apart]
        one, other = who[apart:][both], who[:-apart][both]
        keys.append(np.minimum(one, other) * answers.n_volunteers + np.maximum(one, other))
        same.append(label[apart:][both] == label[:-apart][both])
    known, place = np.unique(np.concatenate(keys), return_inverse=True)
    n, right = np.bincount(place), np.bincount(place, np.concatenate(same))
    chosen = np.lexsort((known, -n))[:MAX_PAIRS]
    rows = []
    for nth in chosen:
        one, other = divmod(int(known[nth]), answers.n_volunteers)
        if one == other:
            continue  # the same volunteer answered a task twice
        low, high = wilson_interval(int(right[nth]), int(n[nth]))
        rows.append(
            PairAgreement(
                volunteers=[actors[one], actors[other]], tasks=int(n[nth]), same=int(right[nth]), low=low, high=high
            )
        )
    return rows


def _difficult(counts: Reals, tasks: Sequence[int]) -> list[DifficultTask]:
    """The tasks whose answers differ most: the share of pairs of answers that are not the same."""
    sizes = counts.sum(axis=1)
    several = np.flatnonzero(sizes > 1)
    sizes = sizes[several]
    differ = 1 - (counts[several] * (counts[several] - 1)).sum(axis=1) / (sizes * (sizes - 1))
    chosen = np.lexsort((several, -sizes, -differ))[:MAX_DIFFICULT]
    return [
        DifficultTask(task_id=int(tasks[several[nth]]), answers=int(sizes[nth]), difficulty=float(differ[nth]))
        for nth in chosen
        if differ[nth] > 0
    ]
