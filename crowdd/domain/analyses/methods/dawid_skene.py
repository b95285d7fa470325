"""Dawid-Skene: each volunteer has a table of how often they give which answer to tasks of which class (1979).

Start, least probability and stopping rule are those of crowd-kit 1.4.2, so that both give the same numbers. Products of
a sparse table of the answers make it fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from crowdd.domain.analyses.methods.estimate import EPSILON, Answers, Estimate, Reals, normalized
from crowdd.lazy import lazy

if TYPE_CHECKING:
    import numpy as np
    from scipy import sparse
else:
    np = lazy("numpy")
    sparse = lazy("scipy.sparse")


@attrs.frozen(eq=False)
class Fit:
    """``errors``: volunteers x answers x classes, the probability of an answer to a task of that class.

    ``bounds``: the evidence lower bound of each round, divided by the number of answers.
    """

    posterior: Reals
    frequencies: Reals
    errors: Reals
    bounds: list[float]
    converged: bool


def estimate(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """Expectation maximization. The skill of a volunteer is how often they are right, with classes as frequent as here.

    It stops after ``rounds``, or when the bound grows by less than ``tolerance``.
    """
    model = fit(answers, int(parameters["rounds"]), parameters["tolerance"])
    skill = np.einsum("vkk,k->v", model.errors, model.frequencies)
    return Estimate(model.posterior, skill, len(model.bounds), model.converged)


def fit(answers: Answers, rounds: int, tolerance: float) -> Fit:
    """The whole model."""
    observations = _Given.of(answers)
    posterior, bounds = answers.shares(), [-np.inf]
    prior, errors = posterior.mean(axis=0), observations.errors(posterior)
    likelihoods = observations.log_likelihoods(errors)
    converged = False
    while len(bounds) <= rounds and not converged:
        posterior = normalized(likelihoods + np.log(np.maximum(prior, EPSILON)))
        prior, errors = posterior.mean(axis=0), observations.errors(posterior)
        likelihoods = observations.log_likelihoods(errors)
        bounds.append(observations.bound(posterior, prior, likelihoods))
        converged = bool(bounds[-1] - bounds[-2] < tolerance)
    shape = (answers.n_volunteers, answers.n_classes, answers.n_classes)
    return Fit(posterior, prior, errors.reshape(shape), bounds[1:], converged)


@attrs.frozen(eq=False)
class _Given:
    """The answers as a sparse table of ones: a row for each volunteer and class, a column for each task."""

    rows: Any
    columns: Any
    occurs: Reals  # volunteers x classes x 1: 1 where the volunteer has named the class
    per_task: Reals
    n_classes: int

    @classmethod
    def of(cls, answers: Answers) -> _Given:
        cells = answers.volunteer.astype(np.int64) * answers.n_classes + answers.label
        n_cells = answers.n_volunteers * answers.n_classes
        rows = sparse.csr_matrix((np.ones(len(answers)), (cells, answers.task)), shape=(n_cells, answers.n_tasks))
        occurs = (np.bincount(cells, minlength=n_cells) > 0).astype(np.float64)
        per_task = np.bincount(answers.task, minlength=answers.n_tasks).astype(np.float64)[:, None]
        shape = (answers.n_volunteers, answers.n_classes, 1)
        return cls(rows, rows.T.tocsr(), occurs.reshape(shape), per_task, answers.n_classes)

    def errors(self, posterior: Reals) -> Reals:
        """How often a volunteer answers each class, by class of the task; 0 for classes that they never name."""
        k = self.n_classes
        counts = np.maximum((self.rows @ posterior).reshape(-1, k, k), EPSILON) * self.occurs
        error_rates: Reals = (counts / counts.sum(axis=1, keepdims=True)).reshape(-1, k)
        return error_rates

    def log_likelihoods(self, errors: Reals) -> Reals:
        """Of the answers to each task, by class."""
        task_log_likelihoods: Reals = self.columns @ np.log(np.where(errors > 0, errors, 1.0))
        return task_log_likelihoods

    def bound(self, posterior: Reals, prior: Reals, likelihoods: Reals) -> float:
        """The evidence lower bound as crowd-kit has it: the frequencies count once for each answer."""
        expected = posterior * (likelihoods + self.per_task * np.log(np.maximum(prior, EPSILON)))
        clipped = np.maximum(posterior, EPSILON)
        return float((expected.sum() - (np.log(clipped) * clipped).sum()) / self.per_task.sum())
