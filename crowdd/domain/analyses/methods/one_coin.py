"""One coin: each volunteer has one accuracy, and errs in favour of every other class equally often (Zhang et al. 2016).

The accuracy has a Beta distribution before any answer is seen, so that few answers say little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from crowdd.domain.analyses.methods.estimate import EPSILON, Answers, Estimate, Reals, normalized
from crowdd.lazy import lazy

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")


def estimate(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """Expectation maximization. The skill of a volunteer is their accuracy.

    ``right`` and ``wrong`` are the answers that the Beta distribution is worth. It stops after ``rounds``, or when no
    accuracy changes by ``tolerance``.
    """
    right, wrong = parameters["right"], parameters["wrong"]
    answer_counts = answers.per_volunteer() + right + wrong
    posterior, before = answers.shares(), None
    for rounds in range(1, int(parameters["rounds"]) + 1):
        correct_counts = answers.per_volunteer(posterior[answers.task, answers.label])
        accuracy = np.clip((correct_counts + right) / answer_counts, EPSILON, 1 - EPSILON)
        posterior = _posterior(answers, accuracy, posterior.mean(axis=0))
        if before is not None and np.abs(accuracy - before).max() < parameters["tolerance"]:
            return Estimate(posterior, accuracy, rounds)
        before = accuracy
    return Estimate(posterior, before, int(parameters["rounds"]), converged=False)


def _posterior(answers: Answers, accuracy: Reals, prior: Reals) -> Reals:
    others = max(1, answers.n_classes - 1)
    log_odds = np.log(accuracy) - np.log((1 - accuracy) / others)
    weighted_votes = answers.votes(log_odds[answers.volunteer])
    return normalized(weighted_votes + np.log(np.maximum(prior, EPSILON)))
