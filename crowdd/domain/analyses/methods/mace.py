"""MACE: a volunteer knows the class, or answers by a habit of their own (Hovy et al. 2013). By crowd-kit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from crowdd.domain.analyses.methods.by_crowd_kit import frame, probabilities
from crowdd.domain.analyses.methods.estimate import Answers, Estimate
from crowdd.lazy import lazy

if TYPE_CHECKING:
    from crowdkit.aggregation.classification import mace
else:
    mace = lazy("crowdkit.aggregation.classification.mace")


def estimate(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The skill of a volunteer is how often they know. A single start: further ones begin from the same numbers."""
    rounds = int(parameters["rounds"])
    model = mace.MACE(n_restarts=1, n_iter=rounds, random_state=0).fit(frame(answers))
    knowing = model.spamming_[:, 1] / model.spamming_.sum(axis=1)
    return Estimate(probabilities(model.probas_, answers), knowing, rounds)
