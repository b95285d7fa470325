"""The methods of analysis that crowd-kit has: its numbers, for our tables of answers.

* GLAD (Whitehill et al. 2009): volunteers have an ability, tasks a difficulty.
* MACE (Hovy et al. 2013): a volunteer knows the class, or answers by a habit of their own.
* Wawa: how often a volunteer is with the majority is the weight of their answers. Zero-based skill repeats that.
* KOS (Karger et al. 2011): messages between tasks and volunteers, for two classes.
* M-MSR (Ma and Olshevsky 2020): weights from how often two volunteers agree, without the most unlike ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crowdd.features.analyses.methods import Answers, Estimate, Reals
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from crowdkit.aggregation.classification import glad, kos, m_msr, mace, wawa, zero_based_skill
else:
    np = lazy("numpy")
    pd = lazy("pandas")
    glad = lazy("crowdkit.aggregation.classification.glad")
    kos = lazy("crowdkit.aggregation.classification.kos")
    m_msr = lazy("crowdkit.aggregation.classification.m_msr")
    mace = lazy("crowdkit.aggregation.classification.mace")
    wawa = lazy("crowdkit.aggregation.classification.wawa")
    zero_based_skill = lazy("crowdkit.aggregation.classification.zero_based_skill")


def frame(answers: Answers) -> Any:
    """The answers with the columns task, worker and label. Classes are numbered as they first appear.

    crowd-kit's MACE orders classes sometimes as they appear and sometimes by their values: so both are the same. Tasks
    and volunteers are numbered as they appear already.
    """
    labels, _order = pd.factorize(answers.label)
    return pd.DataFrame({"task": answers.task, "worker": answers.volunteer, "label": labels})


def probabilities(estimated: Any, answers: Answers) -> Reals:
    """The probabilities that crowd-kit found for such a frame, as tasks x classes."""
    _labels, order = pd.factorize(answers.label)
    table = estimated.reindex(index=range(answers.n_tasks), columns=range(len(order))).to_numpy(dtype=np.float64)
    if not np.isfinite(table).all():
        raise _no_result()
    posterior = np.empty_like(table)
    posterior[:, order] = table
    return posterior


def _no_result() -> InvalidValueError:
    return InvalidValueError(_("The method has no result for these answers. Choose another one."))


def _of_volunteers(skills: Any, answers: Answers) -> Reals:
    skill: Reals = skills.reindex(range(answers.n_volunteers)).to_numpy(dtype=np.float64)
    return skill


def estimate_glad(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The skill of a volunteer is their ability: 0 is guessing, below 0 is mostly wrong, without an upper bound."""
    rounds = int(parameters["rounds"])
    model = glad.GLAD(n_iter=rounds, tol=parameters["tolerance"]).fit(frame(answers))
    done = len(model.loss_history_)
    return Estimate(probabilities(model.probas_, answers), _of_volunteers(model.alphas_, answers), done, done < rounds)


def estimate_mace(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The skill of a volunteer is how often they know. A single start: further ones begin from the same numbers.

    It always takes all rounds, and does not say whether its figures have settled.
    """
    rounds = int(parameters["rounds"])
    model = mace.MACE(n_restarts=1, n_iter=rounds, random_state=0).fit(frame(answers))
    knowing = model.spamming_[:, 1] / model.spamming_.sum(axis=1)
    return Estimate(probabilities(model.probas_, answers), knowing, rounds, None)


def _weighted(answers: Answers, skill: Reals) -> Reals:
    """Shares of the votes by the weights of volunteers. Negative sums count as none; with none all are equal."""
    votes = np.maximum(answers.votes(skill[answers.volunteer]), 0.0)
    if not np.isfinite(votes).all():
        raise _no_result()
    totals = votes.sum(axis=1, keepdims=True)
    shares: Reals = np.where(totals > 0, votes / np.where(totals > 0, totals, 1.0), 1 / answers.n_classes)
    return shares


def estimate_wawa(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The skill of a volunteer is how often they are with the majority."""
    skill = _of_volunteers(wawa.Wawa().fit(frame(answers)).skills_, answers)
    return Estimate(_weighted(answers, skill), skill)


def estimate_zero_based_skill(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The skill of a volunteer is how often they are with the weighted majority. It always takes all rounds."""
    rounds = int(parameters["rounds"])
    model = zero_based_skill.ZeroBasedSkill(n_iter=rounds).fit(frame(answers))
    skill = _of_volunteers(model.skills_, answers)
    return Estimate(_weighted(answers, skill), skill, rounds, None)


def estimate_kos(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """One class of each task without a probability; volunteers have no skill. Raises InvalidValueError.

    There must be two classes, and none of the tasks may be even.
    """
    if answers.n_classes != 2:
        raise InvalidValueError(_("KOS takes two choices. Choose another method."))
    rounds, table = int(parameters["rounds"]), frame(answers)
    try:
        labels = kos.KOS(n_iter=rounds, random_state=0).fit(table).labels_
    except KeyError:  # a sign of 0
        raise _no_result() from None
    one_of_two = pd.get_dummies(labels).astype(np.float64).reindex(columns=range(2), fill_value=0.0)
    return Estimate(probabilities(one_of_two, answers), None, rounds, None)


def estimate_m_msr(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The skill of a volunteer is the weight of their answers, below 0 against what they say."""
    rounds = int(parameters["rounds"])
    model = m_msr.MMSR(n_iter=rounds, tol=parameters["tolerance"], random_state=0).fit(frame(answers))
    skill, done = _of_volunteers(model.skills_, answers), len(model.loss_history_)
    return Estimate(_weighted(answers, skill), skill, done, done < rounds)
