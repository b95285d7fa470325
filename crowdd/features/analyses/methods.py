"""The methods of analysis: what each needs, and which suits a project. Those by crowd-kit are in ``crowd_kit``.

* Agreement: as majority, with how far volunteers agree (``agreement``).
* Majority: every answer has the same weight. The probability of a class is its share of the answers.
* One coin (Zhang et al. 2016): each volunteer has one accuracy, and errs in favour of every other class equally often.
  The accuracy has a Beta distribution before any answer is seen, so that few answers say little.
* Dawid-Skene (1979): each volunteer has a table of how often they give which answer to tasks of which class. Start,
  least probability and stopping rule are those of crowd-kit 1.4.2, so that both give the same numbers. Products of a
  sparse table of the answers make it fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

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
    all answers; ``converged``: it stopped because little changed. None: the method does not say.
    """

    posterior: Reals
    skill: Reals | None = None
    rounds: int = 1
    converged: bool | None = True


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


def estimate_dawid_skene(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """Expectation maximization. The skill of a volunteer is how often they are right, with classes as frequent as here.

    It stops after ``rounds``, or when the bound grows by less than ``tolerance``.
    """
    model = fit_dawid_skene(answers, int(parameters["rounds"]), parameters["tolerance"])
    skill = np.einsum("vkk,k->v", model.errors, model.frequencies)
    return Estimate(model.posterior, skill, len(model.bounds), model.converged)


def fit_dawid_skene(answers: Answers, rounds: int, tolerance: float) -> Fit:
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


EXTRA: Final = "crowdd[trust]"
_NUMBERS: Final = ("numpy", "scipy")
_MAX_ANSWERS: Final = 5_000_000
_MAX_OF_CROWD_KIT: Final = 200_000
_MAX_OF_M_MSR: Final = 20_000  # it compares all volunteers with all others
_MAX_OF_RASA: Final = 20_000  # each as 512 numbers
LABELS, PAIRS, TEXTS = "labels", "pairs", "texts"
"""What methods take: a label, one of two items that stand in the task, or a text."""


@attrs.frozen
class Method:
    """A method of analyses. ``libraries`` are those that it imports; ``parameters`` are numbers that it takes.

    ``takes``: which answers.
    """

    name: str
    title: str
    parameters: Mapping[str, float] = MappingProxyType({})
    libraries: tuple[str, ...] = _NUMBERS
    max_answers: int = _MAX_ANSWERS
    takes: str = LABELS

    @property
    def installed(self) -> bool:
        """Whether this installation has the libraries."""
        return all(find_spec(library) is not None for library in self.libraries)

    def require(self) -> None:
        """Raises InvalidValueError where its libraries are not installed."""
        if not self.installed:
            words = _("%(method)s needs libraries that are not installed.", method=self.title)
            raise InvalidValueError(words, hint=f"Install {EXTRA}.", code="not_installed")

    @property
    def too_many(self) -> str:
        """Why it refuses more answers than it can take."""
        return _("%(method)s takes at most %(max)s answers. Choose another method.", **self._limit())

    def _limit(self) -> dict[str, object]:
        return {"method": self.title, "max": f"{self.max_answers:,}"}


METHODS: Final[Mapping[str, Method]] = MappingProxyType({
    each.name: each
    for each in (
        Method(
            "one_coin",
            _("One coin"),
            {"right": 2, "wrong": 1, "rounds": 100, "tolerance": 1e-6},
        ),
        Method(
            "dawid_skene",
            _("Dawid-Skene"),
            {"rounds": 100, "tolerance": 1e-5},
        ),
        Method("majority", _("Majority")),
        Method("agreement", _("Agreement")),
        Method(
            "mace",
            _("MACE"),
            {"rounds": 50},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_CROWD_KIT,
        ),
        Method(
            "glad",
            _("GLAD"),
            {"rounds": 100, "tolerance": 1e-5},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_CROWD_KIT,
        ),
        Method(
            "wawa",
            _("Wawa"),
            {},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_CROWD_KIT,
        ),
        Method(
            "zero_based_skill",
            _("Zero-based skill"),
            {"rounds": 100},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_CROWD_KIT,
        ),
        Method(
            "kos",
            _("KOS"),
            {"rounds": 100},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_CROWD_KIT,
        ),
        Method(
            "m_msr",
            _("M-MSR"),
            {"rounds": 1000, "tolerance": 1e-10},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_M_MSR,
        ),
        Method(
            "bradley_terry",
            _("Bradley-Terry"),
            {"rounds": 1000},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_CROWD_KIT,
            PAIRS,
        ),
        Method(
            "rasa",
            _("RASA"),
            {"rounds": 100},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_RASA,
            TEXTS,
        ),
    )
})  # fmt: skip
"""In the order in which they are offered."""


def suggested(median_answers: int, n_choices: int) -> str:
    """The method that is offered first: one coin, or Dawid-Skene from a median of n_choices² answers per volunteer."""
    return "dawid_skene" if n_choices > 1 and median_answers >= n_choices**2 else "one_coin"


def estimate_majority(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The shares. Volunteers have no skill here."""
    return Estimate(answers.shares())


if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")


def estimate_one_coin(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
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
