"""What methods of crowd-kit need: answers as a data frame, and probabilities back in our order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowdd.domain.analyses.methods.estimate import Answers, Reals
from crowdd.errors import InvalidValueError
from crowdd.languages import _
from crowdd.lazy import lazy

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
else:
    np = lazy("numpy")
    pd = lazy("pandas")


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
        raise InvalidValueError(_("The method has no result for these answers. Choose another one."))
    posterior = np.empty_like(table)
    posterior[:, order] = table
    return posterior
