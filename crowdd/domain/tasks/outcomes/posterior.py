"""How probable each answer to a task is, by the one-coin model: Dawid and Skene 1979, with one accuracy for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict

import attrs

from crowdd.storage.tasks.rows import ResultSummary

DEFAULT_ACCURACY = 0.8
MIN_TASKS = 20  # finished tasks with several answers, from which the accuracy of volunteers is measured
_MAX_ACCURACY = 0.99
_ABOVE_CHANCE = 0.01  # how much better than chance volunteers are at least


class Posterior(TypedDict):
    """Probabilities of the most frequent answers to a task, the most frequent first.

    They assume that one of ``kinds`` answers is right, and that each volunteer gives it with probability ``accuracy``,
    or else each wrong one equally often.
    ``agreement`` is the mean agreement of the project that this was derived from; None where too few tasks have one.
    """

    accuracy: float
    agreement: float | None
    kinds: int
    probabilities: list[float]


@attrs.frozen
class Coin:
    """What the model assumes of a project; see Posterior."""

    accuracy: float
    agreement: float | None
    kinds: int


def coin(summary: ResultSummary, given: int) -> Coin | None:
    """What results of a project say about its volunteers, for a task with ``given`` different answers.

    None where they do not say how many answers are possible: while some are to be compared again, beyond the values
    that are counted, and where values hardly recur (fewer than two tasks for each value that won), as with free text.
    """
    decided = summary["tasks"] - summary["tied"]
    measured = summary["several"] >= MIN_TASKS
    if summary["due"] or summary["kinds"] is None or (measured and 2 * summary["kinds"] > decided):
        return None
    kinds = max(2, given, summary["kinds"])
    agreement = summary["agreement"] if measured else None
    wanted = DEFAULT_ACCURACY if agreement is None else accuracy_of(agreement, kinds)
    return Coin(min(_MAX_ACCURACY, max(1 / kinds + _ABOVE_CHANCE, wanted)), agreement, kinds)


def accuracy_of(agreement: float, kinds: int) -> float:
    """The accuracy with which two volunteers give the same answer as often as this.

    Both are right, or both give the same wrong answer: agreement = accuracy² + (1 - accuracy)² / (kinds - 1), solved
    for the accuracy that is better than chance.
    """
    return (1 + math.sqrt(max(0.0, (kinds - 1) * (kinds * agreement - 1)))) / kinds


def probabilities(votes: Sequence[int], accuracy: float, kinds: int) -> list[float]:
    """Of ``kinds`` values (at least 2): first those with these votes, in their order, then those without any.

    ln p[j] = ln(1/kinds) + sum over the votes i of ln(accuracy if i is for j else (1 - accuracy) / (kinds - 1)), made
    to add up to 1. What all j have in common is left out: what remains of a vote for j are its ``log_odds``.
    """
    log_odds = math.log(accuracy * (kinds - 1) / (1 - accuracy))
    largest = max(votes, default=0)
    weights = [math.exp((n - largest) * log_odds) for n in [*votes, *[0] * (kinds - len(votes))]]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def posterior(counts: Sequence[int], summary: ResultSummary, maximum: int) -> Posterior | None:
    """Of the first answers to a task, at most ``maximum``; ``counts`` are the votes of all. None: see ``coin``."""
    assumed = coin(summary, len(counts))
    if assumed is None:
        return None
    found = probabilities(counts, assumed.accuracy, assumed.kinds)[: min(maximum, len(counts))]
    return {
        "accuracy": assumed.accuracy,
        "agreement": assumed.agreement,
        "kinds": assumed.kinds,
        "probabilities": found,
    }
