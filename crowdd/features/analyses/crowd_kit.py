"""The methods of analysis that crowd-kit has: its numbers, for our tables of answers.

* GLAD (Whitehill et al. 2009): volunteers have an ability, tasks a difficulty.
* MACE (Hovy et al. 2013): a volunteer knows the class, or answers by a habit of their own.
* Wawa: how often a volunteer is with the majority is the weight of their answers. Zero-based skill repeats that.
* KOS (Karger et al. 2011): messages between tasks and volunteers, for two classes.
* M-MSR (Ma and Olshevsky 2020): weights from how often two volunteers agree, without the most unlike ones.
* Bradley-Terry (Hunter 2004): of two items in a task, one is chosen as often as its strength is of both.
* RASA (Li 2019): of the texts to a task, the one that is nearest to their mean, weighted by reliability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

import attrs

from crowdd.features.analyses.methods import Answers, Estimate, Reals
from crowdd.features.analyses.rows import ItemEstimate
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from crowdkit.aggregation.classification import glad, kos, m_msr, mace, wawa, zero_based_skill
    from crowdkit.aggregation.pairwise import bradley_terry
    from crowdkit.aggregation.texts import text_rasa
    from scipy.sparse import csgraph
else:
    np = lazy("numpy")
    pd = lazy("pandas")
    glad = lazy("crowdkit.aggregation.classification.glad")
    kos = lazy("crowdkit.aggregation.classification.kos")
    m_msr = lazy("crowdkit.aggregation.classification.m_msr")
    mace = lazy("crowdkit.aggregation.classification.mace")
    wawa = lazy("crowdkit.aggregation.classification.wawa")
    zero_based_skill = lazy("crowdkit.aggregation.classification.zero_based_skill")
    bradley_terry = lazy("crowdkit.aggregation.pairwise.bradley_terry")
    text_rasa = lazy("crowdkit.aggregation.texts.text_rasa")
    csgraph = lazy("scipy.sparse.csgraph")


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


MAX_ITEMS = 1000
_Z = 1.959963984540054
_SETTLED = 1e-3  # of the times that an item was chosen


def estimate_bradley_terry(
    answers: Answers, parameters: Mapping[str, float], pairs: Sequence[Sequence[str]]
) -> tuple[Estimate, list[ItemEstimate]]:
    """Of each task how probably each of its two items is chosen, and the strengths of all items, the strongest first.

    ``pairs``: the items of each task, by class. Raises InvalidValueError for more than MAX_ITEMS, and where strengths
    do not exist: not each item was chosen, directly or through others, before each other one.
    """
    items = sorted({item for pair in pairs for item in pair})
    if len(items) > MAX_ITEMS:
        raise InvalidValueError(_("There are more than %(max)s items to compare.", max=f"{MAX_ITEMS:,}"))
    number = {item: n for n, item in enumerate(items)}
    of_tasks = np.array([[number[item] for item in pair] for pair in pairs])
    left, right = of_tasks[answers.task].T
    chosen = of_tasks[answers.task, answers.label]
    wins = np.zeros((len(items), len(items)))
    np.add.at(wins, (chosen, np.where(chosen == left, right, left)), 1)
    if len(items) < 2 or csgraph.connected_components(wins, connection="strong")[0] > 1:
        words = _("Some items cannot be compared with all others: always chosen, or never. More answers help.")
        raise InvalidValueError(words)
    rounds = int(parameters["rounds"])
    table = pd.DataFrame({"left": left, "right": right, "label": chosen})
    # Its own rule to stop compares the strengths with themselves. No tolerance: it goes through all rounds.
    scores = bradley_terry.BradleyTerry(n_iter=rounds, tol=0).fit(table).scores_.sort_index().to_numpy(dtype=np.float64)
    if not (np.isfinite(scores).all() and (scores > 0).all()):
        raise _no_result()
    shares = scores[:, None] / (scores[:, None] + scores)
    compared = wins + wins.T
    settled = bool(np.abs(wins.sum(axis=1) - (compared * shares).sum(axis=1)).max() < _SETTLED)
    logs, errors = np.log(scores) - np.log(scores).mean(), _errors(compared * shares * shares.T)
    strengths = [
        ItemEstimate(
            item=item,
            score=float(logs[n]),
            low=float(logs[n] - _Z * errors[n]),
            high=float(logs[n] + _Z * errors[n]),
            chosen=int(wins[n].sum()),
            compared=int(compared[n].sum()),
        )
        for n, item in enumerate(items)
    ]
    probable = shares[of_tasks[:, 0], of_tasks[:, 1]]
    posterior = np.stack([probable, 1 - probable], axis=1)
    return Estimate(posterior, None, rounds, settled), sorted(strengths, key=lambda one: -one["score"])


def _errors(information: Reals) -> Reals:
    """Standard errors of strengths that are 0 on average, by the curvature of the likelihood between each two."""
    curvature = np.diag(information.sum(axis=1)) - information
    errors: Reals = np.sqrt(np.maximum(np.diag(np.linalg.pinv(curvature, hermitian=True)), 0.0))
    return errors


@attrs.frozen(eq=False)
class ChosenTexts:
    """Of each task the number of the text that is nearest to what all wrote; of each volunteer what RASA says of them.

    ``nearness``: how near their texts are to the weighted means of the tasks (cosine, 0 to 1), on average.
    """

    chosen: list[int]
    nearness: Reals
    skill: Reals
    rounds: int


_SIZE = 512


def encode_text(text: str) -> Reals:
    """How often a text has which letters and parts of two and three, whatever their case, at length 1."""
    plain = f" {' '.join(text.casefold().split())} "
    grams = [plain[n : n + size] for size in (1, 2, 3) for n in range(len(plain) - size + 1)]
    places = [crc32(gram.encode("utf-8", "surrogatepass")) % _SIZE for gram in grams]
    counts = np.bincount(places, minlength=_SIZE).astype(np.float64)
    return counts / np.linalg.norm(counts)


def choose_texts(answers: Answers, parameters: Mapping[str, float], texts: Sequence[str]) -> ChosenTexts:
    """RASA of letters and their parts. ``texts``: those that classes stand for. It does not say when it has settled."""
    rounds = int(parameters["rounds"])
    written = {n: encode_text(text) for n, text in enumerate(texts)}
    table = pd.DataFrame({"task": answers.task, "worker": answers.volunteer, "text": answers.label})
    model = text_rasa.TextRASA(encoder=written.__getitem__, n_iter=rounds)
    scores = model.fit_predict_scores(table, None)
    nearness = 1 - np.clip(scores["score"].to_numpy(dtype=np.float64), 0.0, 1.0)
    best = scores.reset_index().groupby("task")["score"].idxmin()
    chosen = scores["output"].to_numpy()[best.sort_index().to_numpy()].tolist()
    return ChosenTexts(
        chosen,
        answers.per_volunteer(nearness) / answers.per_volunteer(),
        _of_volunteers(model.skills_, answers),
        rounds,
    )
