"""Methods of analyses against crowd-kit's probabilities (``python -m bench.support.crowd_kit``) and published tables."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.support.crowd_kit import anaesthesia
from bench.support.labelled_crowds import ROUNDS, SHAPES, by_crowd_kit, labelled
from crowdd.features.analyses import crowd_kit, methods
from crowdd.features.analyses.methods import METHODS, Answers, accuracies, suggested, winners
from crowdd.kernel.errors import InvalidValueError

SETS = {"anaesthesia": anaesthesia(), **{name: labelled(shape) for name, shape in SHAPES.items()}}
REFERENCES = json.loads((Path(__file__).parent / "references.json").read_text())["sets"]
HAS_CROWD_KIT = importlib.util.find_spec("crowdkit") is not None
PARAMETERS = {name: method.parameters for name, method in METHODS.items()}


ESTIMATE = {
    "one_coin": methods.estimate_one_coin,
    "dawid_skene": methods.estimate_dawid_skene,
    "majority": methods.estimate_majority,
}


def answers(rows: Any) -> Answers:
    columns = [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]
    return Answers(*columns, *(int(column.max()) + 1 for column in columns))


def agrees(found: Any, reference: Any, within: float = 1e-9) -> bool:
    return bool(np.abs(found - np.array(reference)).max() < within)


@pytest.mark.parametrize("name", SETS)
def test_methods_give_the_probabilities_of_crowd_kit(name):
    answer_set, reference = answers(SETS[name]), REFERENCES[name]
    assert (methods.estimate_majority(answer_set, {}).posterior == answer_set.shares()).all()
    assert agrees(methods.estimate_majority(answer_set, {}).posterior, reference["majority"], 1e-11)
    assert agrees(
        methods.estimate_dawid_skene(answer_set, PARAMETERS["dawid_skene"]).posterior, reference["dawid_skene"]
    )
    # crowd-kit has no prior, and another rule to stop.
    plain = {"right": 0, "wrong": 0, "rounds": ROUNDS, "tolerance": -1}
    assert agrees(methods.estimate_one_coin(answer_set, plain).posterior, reference["one_coin"])
    assert not agrees(
        methods.estimate_one_coin(answer_set, PARAMETERS["one_coin"]).posterior, reference["one_coin"], 1e-3
    )


@pytest.mark.skipif(not HAS_CROWD_KIT, reason="needs crowd-kit: pip install 'crowdd[trust]'")
def test_mace_and_glad_are_those_of_crowd_kit():
    name = "four classes"  # of whom the first to appear is not the first by number
    answer_set, reference = answers(SETS[name]), REFERENCES[name]
    assert answer_set.label[0] != 0
    knows = crowd_kit.estimate_mace(answer_set, PARAMETERS["mace"])
    able = crowd_kit.estimate_glad(answer_set, PARAMETERS["glad"])
    assert agrees(knows.posterior, reference["mace"], 1e-6) and agrees(able.posterior, reference["glad"], 1e-6)
    assert knows.converged is None
    assert knows.skill.shape == able.skill.shape == (answer_set.n_volunteers,)
    assert all(agrees(posterior, reference[method]) for method, posterior in by_crowd_kit(SETS[name]).items())


@pytest.mark.skipif(not HAS_CROWD_KIT, reason="needs crowd-kit: pip install 'crowdd[trust]'")
def test_further_methods_of_crowd_kit_find_what_is_right():
    """Of three who know and two who say the same wrong thing, in two classes and in three."""
    for k in (2, 3):
        truth = [nth % k for nth in range(30)]
        rows = [(nth, who, t if who < 3 else (t + 1 + nth % 2) % k) for nth, t in enumerate(truth) for who in range(5)]
        rows += [(nth, 5, truth[nth]) for nth in range(15)]
        for name in ("wawa", "zero_based_skill", "m_msr", *(["kos"] if k == 2 else [])):
            one = getattr(crowd_kit, f"estimate_{name}")(answers(rows), {**PARAMETERS[name], "rounds": 50})
            assert winners(one.posterior).tolist() == truth, name
            assert np.allclose(one.posterior.sum(axis=1), 1)
            assert one.skill is None or one.skill[0] > one.skill[4], name
            assert (one.converged is None) == (name in ("zero_based_skill", "kos")), name
    with pytest.raises(InvalidValueError):
        crowd_kit.estimate_kos(answers(rows), PARAMETERS["kos"])


@pytest.mark.skipif(not HAS_CROWD_KIT, reason="needs crowd-kit: pip install 'crowdd[trust]'")
def test_strengths_of_items_have_the_greatest_likelihood_and_intervals_that_hold():
    rng = np.random.default_rng(5)
    held, n, strength = 0, 6, np.exp(np.linspace(1.2, -1.2, 6))
    for _ in range(40):
        pairs = [sorted(rng.choice(n, 2, replace=False)) for _ in range(200)]
        rows = [
            (task, who, int(rng.random() > strength[a] / (strength[a] + strength[b])))
            for task, (a, b) in enumerate(pairs)
            for who in range(3)
        ]
        names = [[f"item{a}", f"item{b}"] for a, b in pairs]
        estimate, strengths = crowd_kit.estimate_bradley_terry(answers(rows), PARAMETERS["bradley_terry"], names)
        assert estimate.converged and sum(one["score"] for one in strengths) == pytest.approx(0, abs=1e-9)
        by_item = {one["item"]: one for one in strengths}
        held += sum(by_item[f"item{k}"]["low"] <= np.log(strength[k]) <= by_item[f"item{k}"]["high"] for k in range(n))
    assert 0.9 * 240 <= held <= 240, "95 % of the intervals"
    # Where each item is chosen as often as its strength says, the likelihood is greatest.
    first = by_item["item0"]
    expected = sum(
        1 / (1 + np.exp(by_item[other]["score"] - first["score"]))
        for pair in names
        if "item0" in pair
        for other in pair
        if other != "item0"
    )
    assert 3 * expected == pytest.approx(first["chosen"], abs=0.01) and strengths[0]["item"] == "item0"
    task = next(nth for nth, pair in enumerate(pairs) if 0 in pair)
    probable = np.exp(by_item[names[task][0]]["score"]) / sum(np.exp(by_item[name]["score"]) for name in names[task])
    assert estimate.posterior[task].tolist() == pytest.approx([probable, 1 - probable])
    few, _items = crowd_kit.estimate_bradley_terry(answers(rows), {"rounds": 2}, names)
    assert not few.converged, "after two rounds nothing has settled"


@pytest.mark.skipif(not HAS_CROWD_KIT, reason="needs crowd-kit: pip install 'crowdd[trust]'")
def test_items_that_were_always_chosen_have_no_strength():
    rows = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    with pytest.raises(InvalidValueError, match="always chosen, or never"):
        crowd_kit.estimate_bradley_terry(answers(rows), PARAMETERS["bradley_terry"], [["a", "b"], ["b", "c"]])


@pytest.mark.skipif(not HAS_CROWD_KIT, reason="needs crowd-kit: pip install 'crowdd[trust]'")
def test_of_texts_the_one_nearest_to_those_of_reliable_volunteers_is_chosen():
    """Two who write well, with different slips, and one who writes anything."""
    texts, rows = [], []
    for task in range(12):
        good = f"plate {task} of the old barn, seen from the north"
        for who, text in enumerate((good, good.replace("north", "nort"), f"{'xyz' * (task + 1)} no idea {task}")):
            rows.append((task, who, len(texts)))
            texts.append(text)
    chosen = crowd_kit.choose_texts(answers(rows), PARAMETERS["rasa"], texts)
    assert all(text.startswith(f"plate {task} of") for task, text in enumerate(texts[n] for n in chosen.chosen))
    assert chosen.nearness[0] > 0.9 > chosen.nearness[2] and chosen.skill[0] > chosen.skill[2]
    assert np.allclose(crowd_kit.encode_text("The  BARN "), crowd_kit.encode_text("the barn"))


def test_dawid_and_skene_published_these_estimates():
    estimates = methods.fit_dawid_skene(answers(SETS["anaesthesia"]), 500, -1.0)
    assert agrees(estimates.frequencies.round(2), [0.40, 0.42, 0.11, 0.07], 1e-3)
    first = [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]
    assert agrees(estimates.errors[0].T.round(2), first, 1e-3)
    # crowd-kit's rule ends sooner: 0.665 of the first observer's answers to patients of class 3 are 3 then.
    soon = methods.fit_dawid_skene(answers(SETS["anaesthesia"]), 100, 1e-5)
    assert (len(soon.bounds), soon.converged, round(soon.errors[0][2, 2], 3)) == (4, True, 0.665)


def test_one_coin_by_hand():
    """Two volunteers agree on a task, a third says something else there and agrees on another."""
    answer_set = answers([(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 0), (1, 2, 0)])
    one = methods.estimate_one_coin(answer_set, {**PARAMETERS["one_coin"], "rounds": 1})
    right = np.array([2 / 3 + 1 + 2, 2 / 3 + 2, 1 / 3 + 1 + 2]) / np.array([5, 4, 5])
    odds = np.log(right / (1 - right))
    logit = np.log(5 / 6) - np.log(1 / 6)  # of the class frequencies
    expected = 1 / (1 + np.exp(-np.array([odds[0] + odds[1] - odds[2] + logit, odds[0] + odds[2] + logit])))
    assert agrees(one.posterior[:, 0], expected) and not one.converged and agrees(one.skill, right)


def test_ties_have_no_winner_and_a_single_class_is_certain():
    answer_set = answers([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)])
    assert winners(answer_set.shares()).tolist() == [-1, 1]
    assert accuracies(answer_set, answer_set.shares()).tolist() == [0.75, 0.75]
    alone = answers([(0, 0, 0), (0, 1, 0), (1, 0, 0)])
    for name in ("one_coin", "dawid_skene", "majority"):
        assert ESTIMATE[name](alone, PARAMETERS[name]).posterior.tolist() == [[1.0], [1.0]]


def test_the_order_of_classes_does_not_matter():
    rows = SETS["four classes"]
    turned = [(task, who, 3 - label) for task, who, label in rows]
    for name in ("one_coin", "dawid_skene"):
        one, other = (ESTIMATE[name](answers(each), PARAMETERS[name]).posterior for each in (rows, turned))
        assert agrees(one, other[:, ::-1])


@pytest.mark.parametrize(
    ("median", "choices", "expected"),
    [(3, 2, "one_coin"), (4, 2, "dawid_skene"), (99, 10, "one_coin"), (100, 10, "dawid_skene"), (900, 0, "one_coin")],
)
def test_dawid_skene_comes_first_where_volunteers_have_many_answers(median, choices, expected):
    assert suggested(median, choices) == expected
