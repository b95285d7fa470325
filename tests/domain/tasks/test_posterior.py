"""How probable answers are, against numbers computed by hand and against the product of all likelihoods."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdd.domain.tasks.outcomes.posterior import DEFAULT_ACCURACY, MIN_TASKS, Coin, coin, posterior, probabilities
from crowdd.storage.tasks.rows import ResultSummary


@pytest.mark.parametrize(
    ("votes", "accuracy", "kinds", "expected"),
    [
        ([1], 0.8, 2, [0.8, 0.2]),
        ([1, 1], 0.8, 2, [0.5, 0.5]),
        ([2], 0.8, 2, [16 / 17, 1 / 17]),  # 0.64 : 0.04
        ([2, 1], 0.8, 2, [0.8, 0.2]),  # one vote is one vote, whatever two others cancel
        ([1], 0.8, 3, [0.8, 0.1, 0.1]),
        ([2, 1], 0.8, 3, [64 / 73, 8 / 73, 1 / 73]),  # 0.8² · 0.1 : 0.8 · 0.1² : 0.1³
        ([2, 1], 0.6, 5, [36 / 45, 6 / 45, 1 / 45, 1 / 45, 1 / 45]),  # odds of a vote: 0.6 / 0.1
        ([], 0.8, 4, [0.25] * 4),
    ],
)
def test_it_is_what_one_computes_by_hand(votes, accuracy, kinds, expected):
    assert probabilities(votes, accuracy, kinds) == pytest.approx(expected, abs=1e-12)


CROWDS = st.tuples(
    st.lists(st.integers(0, 12), max_size=8), st.integers(0, 5), st.fractions(0, Fraction(98, 100), max_denominator=100)
).map(lambda drawn: (drawn[0], max(2, len(drawn[0]) + drawn[1]), drawn[2]))


def accuracy_of(share: Fraction, kinds: int) -> Fraction:
    """Between chance and 0.99, exactly."""
    return Fraction(1, kinds) + Fraction(1, 100) + share * (Fraction(98, 100) - Fraction(1, kinds))


@given(CROWDS)
def test_it_is_the_product_of_all_likelihoods(crowd):
    votes, kinds, share = crowd
    accuracy = accuracy_of(share, kinds)
    said = [value for value, n in enumerate(votes) for _ in range(n)]
    likelihoods = [
        math.prod(
            (accuracy if value == one else (1 - accuracy) / (kinds - 1) for one in said), start=Fraction(1, kinds)
        )
        for value in range(kinds)
    ]
    exact = [float(one / sum(likelihoods)) for one in likelihoods]
    found = probabilities(votes, float(accuracy), kinds)
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-300)
    assert len(found) == kinds and math.fsum(found) == pytest.approx(1, abs=1e-12)


@given(CROWDS, st.randoms(use_true_random=False))
def test_the_order_of_answers_does_not_matter(crowd, random):
    votes, kinds, share = crowd
    found = probabilities(votes, float(accuracy_of(share, kinds)), kinds)
    order = list(range(len(votes)))
    random.shuffle(order)
    mixed = probabilities([votes[nth] for nth in order], float(accuracy_of(share, kinds)), kinds)
    assert mixed[: len(votes)] == [found[nth] for nth in order] and mixed[len(votes) :] == found[len(votes) :]


@given(CROWDS, st.data())
def test_one_more_vote_never_makes_an_answer_less_probable(crowd, data):
    votes, kinds, share = crowd
    votes = [*votes, *[0] * (kinds - len(votes))]
    nth, accuracy = data.draw(st.integers(0, kinds - 1)), float(accuracy_of(share, kinds))
    more = [n + (place == nth) for place, n in enumerate(votes)]
    before, after = probabilities(votes, accuracy, kinds), probabilities(more, accuracy, kinds)
    assert after[nth] >= before[nth]
    assert all(after[place] <= before[place] for place in range(kinds) if place != nth)


def test_a_thousand_answers_and_values_lose_nothing():
    found = probabilities([1000, 999], 0.99, 1000)
    odds = 0.99 * 999 / 0.01
    assert found[1] / found[0] == pytest.approx(1 / odds, rel=1e-9) and found[2] == 0.0
    assert math.fsum(probabilities([1000], 0.011, 1000)) == pytest.approx(1, abs=1e-12)


# What is assumed ----------------------------------------------------------------------------------------------------


def summary(**other: Any) -> ResultSummary:
    figures: ResultSummary = {
        "tasks": 40, "answers": 120, "several": 30, "agreement": 0.83, "unanimous": 9, "bands": [0, 0, 21, 9], "tied": 4, "unanswered": 0, "pending": 0, "kinds": 3,
        "others": 0, "outcomes": [], "due": False,
    }  # fmt: skip
    return {**figures, **other}  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("figures", "given_", "assumed"),
    [
        ({"agreement": 0.66}, 2, Coin(0.8, 0.66, 3)),  # 0.8² + 0.2² / 2
        ({"agreement": 0.64 + 0.04 / 6}, 7, Coin(0.8, 0.64 + 0.04 / 6, 7)),
        ({"agreement": 0.68, "kinds": 1}, 1, Coin(0.8, 0.68, 2)),
        ({"agreement": 1.0}, 1, Coin(0.99, 1.0, 3)),
        ({"agreement": 0.5, "kinds": 2}, 1, Coin(0.51, 0.5, 2)),
        ({"agreement": 0.2}, 4, Coin(0.26, 0.2, 4)),
        ({"several": MIN_TASKS, "agreement": 0.66}, 3, Coin(0.8, 0.66, 3)),
        ({"several": MIN_TASKS, "agreement": 0.25 + 0.25 / 17, "kinds": 18}, 1, Coin(0.5, 0.25 + 0.25 / 17, 18)),
        ({"several": MIN_TASKS - 1}, 1, Coin(DEFAULT_ACCURACY, None, 3)),
        ({"several": 0, "agreement": None, "tasks": 0, "kinds": 0, "tied": 0}, 1, Coin(DEFAULT_ACCURACY, None, 2)),
        ({"kinds": None}, 1, None),
        ({"kinds": None, "several": 0}, 1, None),
        ({"kinds": 19}, 1, None),  # 36 tasks have a winner, and most winners won once
        ({"due": True}, 1, None),
    ],
)
def test_the_project_says_how_right_its_volunteers_are(figures, given_, assumed):
    found = coin(summary(**figures), given_)
    assert (found and attrs.evolve(found, accuracy=round(found.accuracy, 12))) == assumed


def test_only_the_answers_that_are_shown_have_one_and_all_of_them_count():
    found = posterior([3, 2, 1], summary(agreement=0.66), 2)
    assert found == {
        "accuracy": pytest.approx(0.8), "agreement": 0.66, "kinds": 3, "probabilities": pytest.approx([64 / 73, 8 / 73]),
    }  # fmt: skip
    assert posterior([3, 2, 1], summary(kinds=None), 2) is None
