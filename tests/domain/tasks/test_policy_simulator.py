"""Replays of completed tasks with other settings, what they are weighed by, calibration and intervals."""

from __future__ import annotations

import random
from collections import Counter

import attrs
import pytest

from bench.support.crowd_kit import anaesthesia
from crowdd.features.results.consensus import below, share_interval
from crowdd.features.trust.adaptive import PastTask, Policy, replay
from crowdd.features.trust.fixed_number import FixedComparison
from crowdd.features.trust.weighing import Given, Weighing, calibration


def crowd(k: int, tasks: int = 600, people: int = 60, seed: int = 1, answers: int = 7) -> list[PastTask]:
    """Tasks that a crowd has answered: three in five are right in 92 % of the cases, one in three in 75 %, the rest by chance."""
    rng = random.Random(seed)
    accuracy = [rng.choices([0.92, 0.75, 1 / k], [60, 35, 5])[0] for _ in range(people)]
    made = []
    for _ in range(tasks):
        truth = rng.randrange(k)
        others = [one for one in range(k) if one != truth]
        votes = [
            Given(one, truth if rng.random() < accuracy[one] else rng.choice(others))
            for one in rng.sample(range(people), answers)
        ]
        made.append(PastTask(votes, truth, checked=True))
    return made


def majority(tasks: list[PastTask]) -> float:
    return sum(Counter(one.label for one in task.answers).most_common(1)[0][0] == task.result for task in tasks) / len(
        tasks
    )


@pytest.mark.parametrize("k", [2, 4, 12])
def test_a_replay_saves_answers_and_is_as_right_as_all_of_them(k):
    tasks = crowd(k)
    outcome = replay(tasks, k, Policy(2, 0.95, 7), {})
    assert outcome.tasks == outcome.compared == outcome.checked == 600 and outcome.given == 4200
    assert outcome.fewer > 0.35 and outcome.short <= 6
    assert outcome.right / outcome.checked > majority(tasks) - 0.02
    assert sum(outcome.reasons.values()) == 600 and set(outcome.reasons) <= {"sure", "full", "short"}
    sure = replay(tasks, k, Policy(2, 0.99, 7), {})
    assert sure.asked > outcome.asked and sure.right >= outcome.right - 6
    all_ = replay(tasks, k, Policy(7, 0.5, 7), {})
    assert (all_.asked, all_.early, all_.fewer) == (4200, 0, 0)


@pytest.mark.parametrize("k", [2, 4])
def test_what_is_saved_is_measured_against_the_fixed_number_that_is_as_accurate(k):
    tasks = [attrs.evolve(task, truth=task.result) for task in crowd(k, answers=11)]
    fixed = replay(tasks, k, Policy(2, 0.95, 11), {}).fixed
    assert fixed is not None and fixed.needed is not None and fixed.low is not None and fixed.high is not None
    assert (fixed.tasks, 2 < fixed.needed < 8) == (600, True)
    # By hand: the least number of first answers whose majority, ties drawn, is as often right, costs at least as much.
    for n in range(1, int(fixed.needed)):
        counted = [Counter(one.label for one in task.answers[:n]) for task in tasks]
        right = sum(
            (c[task.truth] == max(c.values())) / sum(size == max(c.values()) for size in c.values())
            for c, task in zip(counted, tasks, strict=True)
        )
        assert right / 600 < fixed.accuracy
    assert fixed.low < fixed.saved < fixed.high < 1 - 2 / 11, "less than against the maximum"
    assert fixed.saved == pytest.approx(1 - replay(tasks, k, Policy(2, 0.95, 11), {}).asked / 600 / fixed.needed)
    # A policy that asks for everything saves nothing.
    everything = replay(tasks, k, Policy(11, 0.5, 11), {}).fixed
    assert everything is None or everything.saved is None or everything.saved <= 0
    assert replay(tasks[:49], k, Policy(2, 0.95, 11), {}).fixed is None, "of too few tasks the truth is known"
    assert replay([attrs.evolve(task, truth=None) for task in tasks], k, Policy(2, 0.95, 11), {}).fixed is None


def test_intervals_of_what_is_saved_hold_what_a_large_crowd_saves():
    def saved(tasks: int, seed: int) -> FixedComparison:
        made = [attrs.evolve(task, truth=task.result) for task in crowd(3, tasks, seed=seed)]
        outcome = replay(made, 3, Policy(2, 0.9, 7), {}).fixed
        assert outcome is not None and outcome.saved is not None
        return outcome

    several = [saved(300, seed) for seed in range(30)]
    middle = sum(one.saved or 0 for one in several) / len(several)
    held = sum((one.low or -1) <= middle <= (one.high or 1) for one in several)
    assert held >= 25


def test_a_replay_says_where_there_are_too_few_answers():
    two = [Given(1, 0), Given(2, 1)]
    outcome = replay([PastTask(two, None), PastTask([], 1)], 2, Policy(2, 0.95, 5), {})
    assert (outcome.given, outcome.asked, outcome.short, outcome.compared) == (2, 2, 2, 1)
    assert outcome.reasons == {"short": 2}
    stopped = replay([PastTask(two, 0)], 2, Policy(2, 0.95, 2), {})
    assert (stopped.short, stopped.reasons) == (0, {"full": 1})


def test_what_is_known_from_gold_tasks_counts_from_the_first_task():
    tasks = [PastTask([Given(1, 0), Given(2, 0), Given(3, 0)], 0)]
    strangers = replay(tasks, 2, Policy(2, 0.95, 3), {})
    known = replay(tasks, 2, Policy(2, 0.95, 3), {1: (20, 20), 2: (20, 20)})
    assert (strangers.asked, known.asked) == (3, 2)
    liars = replay(tasks, 2, Policy(2, 0.95, 3), {1: (5, 20), 2: (20, 20)})
    assert (liars.asked, liars.early) == (3, 0)  # who is no better than chance takes no place


def test_tolokas_example_and_strangers_of_one_network():
    model = Weighing(3)
    assert model.posterior([]) == pytest.approx([1 / 3] * 3)
    one, two = model.posterior([Given(1, 0)]), model.posterior([Given(1, 0), Given(2, 0)])
    shared = model.posterior([Given(1, 0, "net"), Given(2, 0, "net")])
    assert one[0] < shared[0] < two[0]
    odds = [p[0] / p[1] for p in (one, two, shared)]
    assert odds[1] == pytest.approx(odds[0] ** 2) and odds[2] == pytest.approx(odds[0] ** 1.5)
    assert model.posterior([Given(n, 0) for n in range(50)])[0] == pytest.approx(1)


# What Dawid and Skene (1979) find for each patient, from all readings (test_analysis_methods compares their tables).
FITNESS = "142222132243121111222222112111131224233111212"


def test_the_rule_decides_as_dawid_and_skene_did():
    """Their 45 patients, one reading of each of the five observers; the rule sees each patient once, in their order."""
    readings: dict[int, dict[int, int]] = {}
    for patient, observer, label in anaesthesia():
        readings.setdefault(patient, {}).setdefault(observer, label)
    model, posteriors = Weighing(4), {}
    for patient, labels in readings.items():
        answers = [Given(observer, label) for observer, label in labels.items()]
        posterior = model.posterior(answers)
        model.learn(answers, posterior)
        model.fold()
        posteriors[patient] = posterior
    other = {n + 1: max(p) for n, p in posteriors.items() if p.index(max(p)) + 1 != int(FITNESS[n])}
    assert other == {2: pytest.approx(0.87, abs=0.01), 38: pytest.approx(0.53, abs=0.01)}


def test_volunteers_who_agree_by_chance_teach_nothing():
    rng, model = random.Random(3), Weighing(4)
    for _ in range(300):
        answers = [Given(one, rng.randrange(4)) for one in rng.sample(range(20), 5)]
        model.learn(answers, [0.25] * 4)
    model.fold()
    assert model.guarded and model.counts(1) and model.accuracy(1) == pytest.approx(model.accuracy(99))


def test_calibration_counts_each_task_in_its_step():
    report = calibration([(0.96, True), (0.97, False), (1.0, True), (0.4, False), (0.95, True)])
    assert (report["tasks"], report["right"]) == (5, 3)
    assert [(step["minimum"], step["below"], step["tasks"], step["right"]) for step in report["steps"]] == [
        (0.0, 0.5, 1, 0), (0.95, 0.98, 3, 2), (0.98, None, 1, 1),
    ]  # fmt: skip
    assert report["error"] == pytest.approx((0.4 + 3 * abs(2 / 3 - 0.96)) / 5)
    assert calibration([]) == {"tasks": 0, "right": 0, "steps": [], "error": None}


@pytest.mark.parametrize(
    ("right", "seen", "low", "high"),
    # qbeta(c(.025, .975), right + 1, seen - right + 1)
    [
        (0, 0, 0.025, 0.975),
        (9, 10, 0.5872201, 0.9771688),
        (95, 100, 0.8882450, 0.9778894),
        (0, 10, 0.0022990, 0.2849142),
    ],
)
def test_intervals_are_those_of_the_beta_distribution(right, seen, low, high):
    assert share_interval(right, seen) == pytest.approx((low, high), abs=1e-6)


def test_the_incomplete_beta_function():
    assert (below(0, 2, 3), below(1, 2, 3)) == (0, 1)
    assert below(0.3, 2, 3) == pytest.approx(0.3483, abs=1e-9)  # 1 - 0.7^3 (1 + 3 · 0.3)
    assert below(0.5, 1000, 1000) == pytest.approx(0.5)
    assert below(0.7, 1, 1) == pytest.approx(0.7)
