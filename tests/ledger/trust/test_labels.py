"""Several choices in one answer: each is weighed as yes or no by what is known of the volunteers, and teaches about them."""

from __future__ import annotations

import math
import random

import pytest
from psycopg2.extras import Json

CHOICES = ["fox", "owl", "hare"]
FIELD = {"name": "seen", "at": "/seen", "type": "labels", "choices": CHOICES}


def declaring(ledger, field=FIELD, **project):
    made = ledger.project(**project)
    declare(ledger, made, field)
    ledger.run("SELECT compare_results(%(p)s, 100)", p=made)
    return made


def declare(ledger, project, *fields):
    ledger.run("UPDATE project SET info = %(i)s WHERE id = %(p)s", i=Json({"answers": list(fields)}), p=project)


def say(ledger, project, task, actor, seen, network=None):
    ledger.hold(project, actor, task, network)
    ledger.answer(project, actor, task, {"seen": seen}, network=network)


def last(ledger, task):
    return ledger.row("SELECT * FROM result WHERE task_id = %(t)s AND last_version", t=task)


def known(ledger, project):
    rows = ledger.rows("SELECT * FROM reliability WHERE project_id = %(p)s", p=project)
    return {row["actor"]: (row["peer_right"], row["peer_seen"]) for row in rows}


def weighed(answers, rows=()):
    """The probability of each choice; answers: (actor, what they said, network). Written down a second time."""
    sums, met, rows = [0.0] * len(CHOICES), {}, dict(rows)
    for actor, seen, network in answers:
        right, gold, agreed, peers = rows.get(actor, (0, 0, 0, 0))
        cap = 0.95 if gold >= 5 else 0.9 if peers >= 10 else 0.7
        accuracy = min(max((6 + right + agreed) / (8 + gold + peers), 0.5), cap)
        odds = math.log(accuracy / (1 - accuracy))
        if network and gold < 5 and peers < 10:
            met[network] = met.get(network, 0) + 1
            odds /= met[network]
        for n, choice in enumerate(CHOICES):
            sums[n] += odds if choice in seen else -odds
    return [1 / (1 + math.exp(-s)) for s in sums]


def test_each_choice_is_weighed_by_what_is_known_of_the_volunteers(ledger):
    chance = random.Random(3)
    project = declaring(ledger, tasks=40, n=4, counted_per_network=0)
    rows = {f"c:{n}": (4.0 * (n % 2), 8, 9.0, 12) for n in range(3)}
    for actor, (right, gold, agreed, peers) in rows.items():
        ledger.run(
            "INSERT INTO reliability (project_id, actor, gold_right, gold_seen, peer_right, peer_seen)"
            " VALUES (%(p)s, %(a)s, %(r)s, %(g)s, %(q)s, %(s)s)",
            p=project, a=actor, r=right, g=gold, q=agreed, s=peers,
        )  # fmt: skip
    ledger.check = False  # what is known was not taught
    for task in ledger.tasks(project):
        answers = []
        for actor in chance.sample(["c:0", "c:1", "c:2", "c:8", "c:9", "u:7"], 4):
            network = None if actor == "u:7" else f"10.0.{chance.randint(0, 1)}.{chance.randint(0, 9)}"
            answers.append((actor, [one for one in CHOICES if chance.random() < 0.5], network and network[:6]))
            say(ledger, project, task, actor, answers[-1][1], network)
        result, wanted = last(ledger, task), weighed(answers, rows)
        assert result["posterior"] == pytest.approx(wanted, abs=1e-6)
        assert result["consensus"] == [one for one, p in zip(CHOICES, wanted, strict=True) if p > 0.5 + 1e-6]
        assert result["confidence"] == pytest.approx(min(max(p, 1 - p) for p in wanted), abs=1e-6)
        share = [
            sum(p if c in seen else 1 - p for c, p in zip(CHOICES, wanted, strict=True)) / 3 for _, seen, _ in answers
        ]
        assert result["log_likelihoods"] == pytest.approx(share, abs=1e-6)
    shown = ledger.row("SELECT posterior, reason FROM result_record ORDER BY id DESC LIMIT 1")
    assert [one["value"] for one in shown["posterior"]] == CHOICES and shown["reason"] is None


def test_what_a_task_teaches_is_taken_back_and_moves_with_the_answers(ledger):
    project = declaring(ledger, tasks=3, n=3)
    one, two, _open = ledger.tasks(project)
    for task in (one, two):
        for actor, seen in (("x:1", ["fox"]), ("c:2", ["fox"]), ("c:3", ["owl", "hare"])):
            say(ledger, project, task, actor, seen)
    ledger.fold_evidence()
    right = known(ledger, project)
    assert {actor: seen for actor, (_, seen) in right.items()} == {"x:1": 2, "c:2": 2, "c:3": 2}
    assert right["x:1"] == right["c:2"] > right["c:3"]
    assert checked(ledger, project) == []
    # A correction, a deletion, another owner of the answers.
    ledger.run("SELECT amend_answer(%(p)s, 'c:3', %(t)s, '{\"seen\": [\"fox\"]}', clock())", p=project, t=two)
    ledger.delete_run(project, ledger.value("SELECT id FROM task_run WHERE task_id = %(t)s AND actor = 'c:3'", t=one))
    user = ledger.value("SELECT min(id) FROM account")
    ledger.run(
        "SELECT move_runs(%(p)s, 'c:2', NULL, %(a)s, %(u)s, NULL, %(t)s, clock())", p=project, a=f"u:{user}", u=user, t=[one, two]
    )  # fmt: skip
    assert checked(ledger, project) == [], "not folded yet"
    ledger.fold_evidence()
    right = known(ledger, project)
    assert {actor: seen for actor, (_, seen) in right.items()} == {"x:1": 1, f"u:{user}": 1, "c:3": 1}
    assert len({round(of, 6) for of, _ in right.values()}) == 1 and last(ledger, two)["consensus"] == ["fox"]
    assert checked(ledger, project) == []
    # Damage is found and repaired.
    ledger.run("UPDATE reliability SET peer_right = peer_right + 0.5 WHERE actor = 'c:3'")
    assert [row["what"] for row in checked(ledger, project)] == ["reliability.peer_right"]
    ledger.run("SELECT repair_trust(%(p)s, clock())", p=project)
    assert checked(ledger, project) == [] and known(ledger, project) == right


def test_other_choices_teach_again_and_a_label_forgets(ledger):
    project = declaring(ledger, tasks=2, n=2)
    task = ledger.tasks(project)[0]
    for actor in ("u:1", "u:2"):
        say(ledger, project, task, actor, ["fox", "owl"])
    declare(ledger, project, FIELD | {"choices": ["fox", "hare"]})
    ledger.run("SELECT compare_results(%(p)s, 100)", p=project)
    assert last(ledger, task)["posterior"] is None and last(ledger, task)["n_compared"] == 0, "owl is no choice"
    declare(ledger, project, FIELD | {"choices": ["owl", "fox"]})
    ledger.run("SELECT compare_results(%(p)s, 100)", p=project)
    assert last(ledger, task)["consensus"] == ["owl", "fox"] and len(last(ledger, task)["posterior"]) == 2
    ledger.fold_evidence()
    assert {seen for _, seen in known(ledger, project).values()} == {1} and checked(ledger, project) == []
    declare(ledger, project, {"name": "n", "at": "/n", "type": "label", "choices": [1, 2]})
    ledger.run("SELECT compare_results(%(p)s, 100)", p=project)
    ledger.fold_evidence()
    assert last(ledger, task)["posterior"] is None and checked(ledger, project) == []


def test_trial_answers_to_several_choices_teach_nothing(ledger):
    project = declaring(ledger, tasks=1, n=1, published=False)
    (task,) = ledger.tasks(project)
    say(ledger, project, task, "u:1", ["fox"])
    assert (
        last(ledger, task)["posterior"] == pytest.approx([0.7, 0.3, 0.3]) and last(ledger, task)["generation"] is None
    )
    assert ledger.value("SELECT count(*) FROM evidence") == 0


def checked(ledger, project):
    return ledger.rows(
        "SELECT * FROM check_trust(%(p)s, clock()) UNION ALL SELECT * FROM check_agreement(%(p)s, clock())", p=project
    )
