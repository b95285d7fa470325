"""What a method takes and gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from crowdd.lazy import lazy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int32]
    Reals = NDArray[np.float64]
else:
    np = lazy("numpy")
    Integers = Reals = Any

EPSILON = 1e-10
"""The least probability: no answer proves anything by itself."""
_TIE = 1e-12


@attrs.frozen(eq=False)
class Answers:
    """Answers as arrays of equal length. Tasks, volunteers and classes are numbers from 0, each of which occurs."""

    task: Integers
    volunteer: Integers
    label: Integers
    n_tasks: int
    n_volunteers: int
    n_classes: int

    def __len__(self) -> int:
        return len(self.task)

    def votes(self, weights: Reals | None = None) -> Reals:
        """How many answers to each task name each class, or the sum of their weights: tasks x classes."""
        cells = self.task.astype(np.int64) * self.n_classes + self.label
        counts = np.bincount(cells, weights, self.n_tasks * self.n_classes)
        return counts.reshape(self.n_tasks, self.n_classes).astype(np.float64)

    def shares(self) -> Reals:
        """The votes as shares of the answers to each task."""
        votes = self.votes()
        return votes / votes.sum(axis=1, keepdims=True)

    def per_volunteer(self, weights: Reals | None = None) -> Reals:
        """How many answers each volunteer gave, or the sum of their weights."""
        return np.bincount(self.volunteer, weights, self.n_volunteers).astype(np.float64)


@attrs.frozen(eq=False)
class Estimate:
    """What a method found: probabilities of the classes (tasks x classes), and a figure for each volunteer.

    ``skill`` is what the method itself says of a volunteer, see its docstring. ``rounds``: how often it went through
    all answers; ``converged``: it stopped because little changed.
    """

    posterior: Reals
    skill: Reals | None = None
    rounds: int = 1
    converged: bool = True


def normalized(log_likelihoods: Reals) -> Reals:
    """Probabilities from their logarithms, which may lack a constant in each row."""
    probabilities: Reals = np.exp(log_likelihoods - log_likelihoods.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities


def winners(posterior: Reals) -> Integers:
    """The most probable class of each task; -1 where several are equally probable."""
    best = posterior.argmax(axis=1)
    ties = (posterior >= posterior.max(axis=1, keepdims=True) - _TIE).sum(axis=1) > 1
    return np.where(ties, -1, best).astype(np.int32)


def accuracies(answers: Answers, posterior: Reals) -> Reals:
    """The mean probability of what each volunteer said: the share of their answers that is probably right."""
    return answers.per_volunteer(posterior[answers.task, answers.label]) / answers.per_volunteer()
