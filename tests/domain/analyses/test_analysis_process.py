"""What an analysis does with a file of answers: numbers, hash and findings; and its process, with its limits."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys

import orjson
import pytest

from crowdd.features.analyses import process as analysis_process
from crowdd.features.analyses.methods import METHODS, PAIRS, TEXTS
from crowdd.features.analyses.numbering import number
from crowdd.features.analyses.runner import Question, question_of
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.concurrency.isolated import LimitError, command
from crowdd.kernel.errors import InvalidValueError, StoppedError

HAS_CROWD_KIT = importlib.util.find_spec("crowdkit") is not None
LINES = [(7, "u:1", "owl"), (7, "c:a", "fox"), (7, "u:2", "owl"), (9, "c:a", None), (9, "u:1", 1), (9, "u:2", True)]
CHOICES = ["fox", "owl", None, 1]


def lines(rows=LINES):
    return [orjson.dumps(row) for row in rows]


def test_answers_are_numbered_in_their_order_and_hashed():
    numbered = number(lines(), CHOICES, nulls=True)
    assert (numbered.tasks, numbered.actors, numbered.choices) == ([7, 9], ["u:1", "c:a", "u:2"], CHOICES)
    assert (*numbered.task, *numbered.volunteer) == (0, 0, 0, 1, 1, 0, 1, 2, 1, 0)
    assert numbered.n_unfit == 1, "true is not 1"
    assert [numbered.classes[label] for label in numbered.label] == [2, 1, 2, 3, 4]
    text = "7,1,2\n7,2,1\n7,3,2\n9,2,3\n9,1,4\n"
    assert numbered.hash == hashlib.sha256(text.encode()).hexdigest()
    appearing = number(lines(), None, nulls=False)
    assert (appearing.choices, appearing.n_unfit) == (["owl", "fox", 1, True], 1), "null says nothing here"


def test_a_choice_is_the_same_in_another_form():
    rows = [(1, "u:1", "cafe\u0301"), (1, "u:2", " FOX"), (1, "u:3", "Café"), (1, "u:4", "OWL"), (1, "u:5", "owl")]
    numbered = number(lines(rows), ["café", "fox", "Owl", "owl"], nulls=False)
    assert [numbered.classes[label] for label in numbered.label] == [1, 2, 1, 4]
    assert numbered.n_unfit == 1, "OWL could be both"
    assert number(lines(rows), None, nulls=False).choices == ["cafe\u0301", " FOX", "OWL"]


def test_numbering_refuses_what_is_no_question_of_choices():
    with pytest.raises(InvalidValueError, match="more than 50 different values"):
        number(lines([(n, "u:1", f"text {n}") for n in range(51)]), None, nulls=False)
    with pytest.raises(InvalidValueError, match="No answer has one of the choices"):
        number(lines(), ["cat"], nulls=False)


def test_the_question_is_the_first_answer_field():
    label = {"name": "a", "at": "/x/0", "type": "label", "choices": ["b", 1], "unsure": None}
    assert question_of({"answers": [label]}) == Question(("x", "0"), ("b", 1, None), nulls=True, unordered=(None,))
    assert question_of({}) == Question(("answer",), None, nulls=False)
    assert question_of({"answer_key": "species"}) == Question(("species",), None, nulls=False)
    with pytest.raises(InvalidValueError, match=r"“n” is of type number"):
        question_of({"answers": {"name": "n", "at": "/n", "type": "number"}})
    # Pairs and texts.
    better = {"name": "b", "at": "/b", "type": "label", "choices": ["left", "right", "same"], "unsure": "same"}
    asked = Question(("b",), ("left", "right"), nulls=False, columns=("left", "right"))
    assert question_of({"answers": better}, PAIRS) == asked
    assert question_of({"answers": {"name": "t", "at": "/t", "type": "text"}}, TEXTS) == Question(("t",), None, False)
    with pytest.raises(InvalidValueError, match="two choices"):
        question_of({"answers": better | {"choices": ["left", "right", "same", "both"]}}, PAIRS)
    for takes in (PAIRS, TEXTS):
        with pytest.raises(InvalidValueError, match="another type"):
            question_of({"answers": {"name": "n", "at": "/n", "type": "number"}}, takes)


def analysed(tmp_path, method="one_coin", rows=LINES, **changes):
    """What a process finds in these answers."""
    path = tmp_path / "answers"
    path.write_bytes(b"".join(line + b"\n" for line in lines(rows)))
    options = {"method": method, "parameters": dict(METHODS[method].parameters), "choices": CHOICES, "nulls": True}
    running = analysis_process.start(path, tmp_path / "findings", options | changes)
    try:
        while not running.wait(60):
            pass
    finally:
        running.end()
    return [*analysis_process.read(tmp_path / "findings")]


def test_the_same_answers_give_the_same_findings(tmp_path):
    first, second = analysed(tmp_path), analysed(tmp_path)
    assert first[1:] == second[1:] and first[0]["input_hash"] == second[0]["input_hash"]
    summary, tasks, volunteers = first
    assert {name: summary[name] for name in ("n_answers", "n_unfit", "n_tasks", "n_volunteers", "choices")} == {
        "n_answers": 5, "n_unfit": 1, "n_tasks": 2, "n_volunteers": 3, "choices": CHOICES,
    }  # fmt: skip
    assert set(summary["versions"]) == {"crowdd", "numpy", "scipy"}
    assert [(task, label) for task, label, _ in tasks["tasks"]] == [(7, 2), (9, 4)], "u:1 has agreed with others"
    assert sum(tasks["tasks"][0][2]) == pytest.approx(1, abs=1e-5)
    assert [row[:2] for row in volunteers["volunteers"]] == [["u:1", 2], ["c:a", 2], ["u:2", 1]]
    assert analysed(tmp_path, rows=LINES[1:])[0]["input_hash"] != summary["input_hash"]
    majority = analysed(tmp_path, "majority")
    assert majority[1]["tasks"] == [[7, 2, [0.333333, 0.666667, 0, 0]], [9, None, [0, 0, 0.5, 0.5]]]
    assert [row[2:] for row in majority[2]["volunteers"]] == [[0.583333, None], [0.416667, None], [0.666667, None]]


def test_a_process_says_why_it_refuses(tmp_path):
    with pytest.raises(InvalidValueError, match="No answer has one of the choices"):
        analysed(tmp_path, choices=["cat"])
    with pytest.raises(LimitError, match="status"):
        analysed(tmp_path, parameters={})  # it fails
    missing = METHODS["mace"].__class__("x", "MACE", libraries=("numpy", "not_installed_here"))
    with pytest.raises(InvalidValueError, match="MACE needs libraries that are not installed") as refusal:
        missing.require()
    assert refusal.value.hint == "Install crowdd[trust]."


@pytest.mark.skipif(not HAS_CROWD_KIT, reason="needs crowd-kit: pip install 'crowdd[trust]'")
def test_items_that_were_compared_in_pairs_get_strengths(tmp_path):
    pairs = [[1, "a", "b"], [2, "b", "c"], [3, "c", "a"], [4, "a", None], [5, "a", "a"]]
    (tmp_path / "pairs").write_bytes(b"".join(orjson.dumps(pair) + b"\n" for pair in pairs))
    rows = [(task, f"u:{who}", "right" if who == task else "left") for task in range(1, 6) for who in range(1, 5)]
    rows.append((1, "u:9", None))
    columns = {"first": "left", "second": "right"}
    options = {"choices": ["left", "right"], "nulls": False, "pairs": str(tmp_path / "pairs"), "columns": columns}
    summary, tasks, volunteers = analysed(tmp_path, "bradley_terry", rows, **options)
    assert (summary["n_answers"], summary["n_unfit"], summary["n_tasks"]) == (12, 1, 3), "4 and 5 compare nothing"
    assert [(one["item"], one["chosen"], one["compared"]) for one in summary["items"]] == [
        ("a", 4, 8), ("b", 4, 8), ("c", 4, 8),
    ]  # fmt: skip
    wide = 1.959963984540054 * (2 / 9) ** 0.5  # each two compared four times, with one comparison in four to know of
    for one in summary["items"]:
        assert [one["low"], one["score"], one["high"]] == pytest.approx([-wide, 0, wide], abs=1e-6)
    assert [row[2] for row in tasks["tasks"]] == [[0.5, 0.5]] * 3 and len(volunteers["volunteers"]) == 4
    (tmp_path / "pairs").write_bytes(orjson.dumps([4, "a", None]) + b"\n")
    with pytest.raises(InvalidValueError, match="columns “left” and “right”"):
        analysed(tmp_path, "bradley_terry", rows, **options)


@pytest.mark.skipif(not HAS_CROWD_KIT, reason="needs crowd-kit: pip install 'crowdd[trust]'")
def test_texts_are_chosen_and_hashed_by_their_numbers(tmp_path):
    rows = [(1, "u:1", "old barn"), (1, "u:2", "old barm"), (1, "u:3", "?"), (2, "u:1", "mill"), (2, "u:2", "mill")]
    rows += [(2, "u:3", " "), (2, "u:4", 7), (2, "u:5", None), (3, "u:1", "Mill")]
    summary, tasks, volunteers = analysed(tmp_path, "rasa", rows, choices=None)
    assert (summary["n_answers"], summary["n_unfit"], summary["choices"], summary["frequencies"]) == (6, 3, [], [])
    assert [(row[0], row[3]) for row in tasks["tasks"]] == [(1, "old barn"), (2, "mill"), (3, "Mill")]
    lines = "1,1,1\n1,2,2\n1,3,3\n2,1,4\n2,2,4\n3,1,5\n"
    assert summary["input_hash"] == hashlib.sha256(lines.encode()).hexdigest() and summary["converged"] is None
    assert [row[1] for row in volunteers["volunteers"]] == [3, 2, 1]
    with pytest.raises(InvalidValueError, match="No answer has a text"):
        analysed(tmp_path, "rasa", [(1, "u:1", None)], choices=None)


SLEEPER = """
import time
from crowdd.kernel.concurrency.isolated import Limits
LIMITS = Limits()
def sleep():
    time.sleep(600)
"""


def test_a_process_ends_when_it_is_told_to_and_when_the_server_dies(tmp_path, monkeypatch):
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    running = isolated.start("sleeper:sleep")
    assert not running.wait(0)
    running._process.terminate()
    with pytest.raises(StoppedError):
        running.wait(60)
    running.end()
    orphan = isolated.start("sleeper:sleep")
    orphan._process.stdin.close()
    with pytest.raises(LimitError):
        orphan.wait(60)
    orphan.end()


def test_a_process_is_bounded():
    code = (
        "import os, resource; from crowdd.features.analyses import analysis_program; analysis_program.LIMITS.apply();"
        "print(os.nice(0), resource.getrlimit(resource.RLIMIT_AS)[0], resource.getrlimit(resource.RLIMIT_CPU)[0])"
    )
    done = subprocess.run([command("x")[0], "-c", code], check=True, capture_output=True, text=True)
    nice, memory, seconds = map(int, done.stdout.split())
    assert nice == 19 and (memory, seconds) == (4_000_000_000, 1800)
