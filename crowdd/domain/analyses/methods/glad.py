"""GLAD: volunteers have an ability, tasks a difficulty (Whitehill et al. 2009). By crowd-kit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from crowdd.domain.analyses.methods.by_crowd_kit import frame, probabilities
from crowdd.domain.analyses.methods.estimate import Answers, Estimate
from crowdd.lazy import lazy

if TYPE_CHECKING:
    from crowdkit.aggregation.classification import glad
else:
    glad = lazy("crowdkit.aggregation.classification.glad")


def estimate(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The skill of a volunteer is their ability: 0 is guessing, below 0 is mostly wrong, without an upper bound."""
    rounds = int(parameters["rounds"])
    model = glad.GLAD(n_iter=rounds, tol=parameters["tolerance"]).fit(frame(answers))
    ability = model.alphas_.reindex(range(answers.n_volunteers)).to_numpy()
    done = len(model.loss_history_)
    return Estimate(probabilities(model.probas_, answers), ability, done, done < rounds)
