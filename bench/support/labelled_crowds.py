"""Small sets of labels with stated seeds, and what crowd-kit makes of them: tests compare our methods with that."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from crowdd.kernel.lazy import lazy

pd = lazy("pandas")
kit = lazy("crowdkit.aggregation.classification")

Answer = tuple[int, int, int]
"""Task, volunteer and class, each numbered from 0. Tasks and volunteers are numbered as they appear."""

SHAPES = {
    "two classes": (1, 40, 8, 2, 5),
    "four classes": (2, 40, 10, 4, 4),
    "ten classes": (3, 40, 8, 10, 6),
    "few answers": (4, 40, 25, 3, 2),
}
"""Seed, tasks, volunteers, classes, and answers to each task."""
ROUNDS = 20  # of one coin: neither side stops before


def labelled(shape: tuple[int, int, int, int, int]) -> list[Answer]:
    """Answers of volunteers who are right in 40 to 95 of a hundred tasks."""
    seed, n_tasks, n_volunteers, n_classes, n_answers = shape
    chance = random.Random(seed)
    right = [chance.uniform(0.4, 0.95) for _ in range(n_volunteers)]
    numbers: dict[int, int] = {}
    rows = []
    for task in range(n_tasks):
        truth = chance.randrange(n_classes)
        for who in chance.sample(range(n_volunteers), n_answers):
            label = truth if chance.random() < right[who] else chance.randrange(n_classes)
            rows.append((task, numbers.setdefault(who, len(numbers)), label))
    return rows


def by_crowd_kit(rows: Sequence[Answer]) -> dict[str, list[list[float]]]:
    """The probabilities of the classes by each method. Needs crowd-kit."""
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    seen = frame.assign(label=pd.factorize(frame["label"])[0])  # see crowdd/features/analyses/methods.py
    order = pd.factorize(frame["label"])[1]
    mace = kit.MACE(n_restarts=1).fit(seen).probas_.rename(columns=dict(enumerate(order)))
    estimates = {
        "majority": kit.MajorityVote().fit_predict_proba(frame).fillna(0),
        "one_coin": kit.OneCoinDawidSkene(n_iter=ROUNDS, tol=float("-inf")).fit(frame).probas_,
        "dawid_skene": kit.DawidSkene().fit(frame).probas_,
        "mace": mace,
        "glad": kit.GLAD().fit(frame).probas_,
    }
    return {name: _table(probabilities) for name, probabilities in estimates.items()}


def _table(probabilities: Any) -> list[list[float]]:
    return [
        [round(float(each), 12) for each in row] for row in probabilities.sort_index().sort_index(axis=1).to_numpy()
    ]
