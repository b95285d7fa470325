"""What results say at each declared answer field, and the counters of it."""

from __future__ import annotations

import json
import random
from collections import Counter
from decimal import Decimal
from itertools import combinations
from statistics import median

import pytest
from psycopg2.extras import Json
from support.checks.invariants import invariants
from support.checks.proofs import examples

CHOICES = ["fox", "owl", "hare", None]
LABEL = {"name": "kind", "at": "/kind", "type": "label", "choices": CHOICES, "unsure": None}
LABELS = {"name": "seen", "at": "/seen", "type": "labels", "choices": ["fox", "owl", "hare"]}
NUMBER = {"name": "count", "at": "/count", "type": "number", "min": 0, "max": 100, "tolerance": 1}
TEXT = {"name": "note", "at": "/deep/note~1s", "type": "text"}
BOXES = {"name": "boxes", "at": "/boxes", "type": "boxes"}
FURTHER = "SELECT consensus, further FROM result WHERE task_id = %(t)s AND last_version"
SAID = "SELECT (s).* FROM (SELECT consensus_of_field(%(f)s, ARRAY(SELECT jsonb_array_elements(%(v)s))) AS s) c"
COUNTS = (
    "SELECT o.field, o.kind, coalesce(o.value #>> '{}', '') AS value, o.tasks FROM outcomes_of(%(p)s) o"
    " WHERE o.tasks <> 0 AND o.field > 1 ORDER BY 1, 2, 3"
)


def declare(session, project, *fields):
    session.run(
        "UPDATE project SET info = jsonb_build_object('answers', %(f)s::jsonb) WHERE id = %(p)s",
        p=project,
        f=Json(list(fields)),
    )


def declaring(ledger, *fields, **project):
    made = ledger.project(**project)
    declare(ledger, made, *fields)
    return made


def answer(session, project, task, *infos):
    for number, info in enumerate(infos):
        session.hold(project, f"c:{number}", task)
        session.answer(project, f"c:{number}", task, info)


def counts(ledger, project):
    """How many tasks have which consensus, by further field; counted as the rows say."""
    assert ledger.rows("SELECT * FROM check_outcomes(%(p)s, clock())", p=project) == []
    assert ledger.rows("SELECT * FROM check_agreement(%(p)s, clock())", p=project) == []
    assert invariants(ledger.connection) == []
    return {(row["field"], row["kind"], row["value"]): row["tasks"] for row in ledger.rows(COUNTS, p=project)}


@pytest.mark.parametrize(
    ("field", "values", "expected"),
    [
        (LABEL, ["fox", "fox", "owl"], ("fox", 3, 1 / 3, 2 / 3)),
        # Nothing there is an answer; of can't tell more than half must say so.
        (NUMBER, [[], [], 5], ([], 3, 1 / 3, 2 / 3)),
        (NUMBER, [[], 5, 5, 5], (5, 4, 1 / 2, 3 / 4)),
        (NUMBER, [[], 5], (None, 2, 0, None)),
        (NUMBER, [[], []], ([], 2, 1, 1)),
        (NUMBER, [None, 5], (5, 1, 1, 1)),
        (NUMBER, [None, None, 5], (None, 3, 1 / 3, 2 / 3)),
        (NUMBER, [None, [], []], ([], 2, 1, 1)),
        (LABEL, ["fox", "owl"], (None, 2, 0, None)),
        (LABEL, ["fox", "dog", ["fox"], {"x": 1}], ("fox", 1, 1, 1)),
        (LABEL, [None, None, "fox"], (None, 3, 1 / 3, 2 / 3)),
        (LABEL, ["dog"], (None, 0, None, None)),
        ({**LABEL, "choices": ["fox"], "unsure": "?"}, ["fox", "?", "?"], ("?", 3, 1 / 3, 2 / 3)),
        ({**LABEL, "choices": [1, True]}, [1.0, 1, True], (1, 3, 1 / 3, 2 / 3)),
        (NUMBER, [3, 4, 9], (4, 3, 1 / 3, 2 / 3)),
        # Upper and lower case, spaces at the ends and the form of characters (é in one or two) do not matter.
        (LABEL, ["fox", "Fox", " FOX\n"], ("fox", 3, 1, 1)),
        ({**LABEL, "choices": ["café", "Straße"]}, ["cafe\u0301", "STRASSE", "CAFÉ "], ("café", 3, 1 / 3, 2 / 3)),
        ({**LABEL, "choices": ["fox", "Fox", "owl"]}, ["Fox", "FOX", "owl", "owl "], ("owl", 3, 1 / 3, 2 / 3)),
        (LABELS, [["Fox ", "owl"], ["OWL", "fox"], ["fox", "FOX"]], (["fox", "owl"], 2, 1, 1)),
        (NUMBER, [2, 5], (3.5, 2, 0, 0)),
        # Two that differ, or two halves, are a dispute.
        (NUMBER, [1, 1, 2.5, 2.5], (1.75, 4, 1 / 3, 1 / 2)),
        ({"type": "number"}, [1, 2], (1.5, 2, 0, 1 / 2)),
        ({"type": "number"}, [7, 7], (7, 2, 1, 1)),
        ({"type": "number"}, [1, 1, 100, 100], (50.5, 4, 1 / 3, 1 / 2)),
        ({"type": "number"}, [1, 2, 3, 4], (2.5, 4, 0, 1)),
        (NUMBER, [0.1, 0.2], (0.15, 2, 1, 1)),
        (NUMBER, ["3", None, 101, -1, 7], (7, 1, 1, 1)),
        ({"type": "number"}, [3, 4, 4, 4, 40], (4, 5, 0.3, 3 / 5)),
        ({"type": "number"}, [1, 2, 3, 4, 100], (3, 5, 0, 4 / 5)),
        (NUMBER, ["none"], (None, 0, None, None)),
        (LABELS, [["fox", "owl"], ["owl", "fox"], ["owl"]], (["fox", "owl"], 3, (1 + 2 * (1 / 2 * 2 / 3)) / 3, 2 / 3)),
        (LABELS, [[], [], ["fox"]], ([], 3, 1 / 3, 2 / 3)),
        (LABELS, [["fox"], ["dog"], ["fox", "fox"], "fox"], (["fox"], 1, 1, 1)),
        (LABELS, [["fox", "owl"], ["owl", "hare"]], (["owl"], 2, 1 / 3 * 1 / 3, 1 / 2)),
        (TEXT, ["A  Fox ", "a fox"], (None, None, None, None)),
        (BOXES, [[{"x": 1}], [{"x": 1.0}], None], (None, None, None, None)),
    ],
)
def test_values_are_compared_by_the_type_of_their_field(ledger, field, values, expected):
    (compact,) = ledger.row(
        "SELECT declared_fields(%(i)s)->1 AS f",
        i=Json({"answers": [LABEL | {"name": "first"}, {"name": "n", "at": "/n", **field}]}),
    ).values()
    row = ledger.row(SAID, f=Json(compact), v=Json(values))
    consensus, n, agreement, confidence = expected
    assert (row["consensus"], row["n_compared"]) == (consensus, n)
    assert row["agreement"] == (None if agreement is None else pytest.approx(agreement))
    assert row["confidence"] == (None if confidence is None else pytest.approx(confidence))


def _masi(one, other):
    both, either = one & other, one | other
    if one == other:
        return 1.0
    return len(both) / len(either) * (2 / 3 if both in (one, other) else 1 / 3)


def _mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 1.0


@pytest.fixture
def said(ledger):
    """What the database says of these values of a field, as its row."""
    fields = [LABEL, LABELS, NUMBER]
    declared = ledger.row("SELECT declared_fields(%(i)s) AS f", i=Json({"answers": fields}))["f"]
    compact = {field["name"]: Json(one) for field, one in zip(fields, declared, strict=True)}
    return lambda field, values: ledger.row(SAID, f=compact[field["name"]], v=Json(values))


TASKS = 200


def test_200_random_choices_say_what_a_count_says(said):
    chance = random.Random(5)
    for _ in range(TASKS):
        values = chance.choices(CHOICES, weights=[4, 2, 1, 2], k=chance.randint(1, 9))
        row, n = said(LABEL, values), len(values)
        (first, highest), *others = Counter(values).most_common()
        won = not others or others[0][1] < highest
        assert (row["n_compared"], row["consensus_hash"] is not None) == (n, won)
        assert row["consensus"] == (first if won else None), values
        assert row["agreement"] == pytest.approx(_mean(a == b for a, b in combinations(values, 2)), abs=1e-6)
        assert row["confidence"] == (pytest.approx(highest / n) if won else None)


def test_200_random_sets_say_what_a_count_says(said):
    chance = random.Random(7)
    for _ in range(TASKS):
        n = chance.randint(1, 9)
        sets = [frozenset(one for one in LABELS["choices"] if chance.random() < 0.6) for _ in range(n)]
        row = said(LABELS, [chance.sample(sorted(one), len(one)) for one in sets])
        named = Counter(one for each in sets for one in each)
        assert row["consensus"] == [one for one in LABELS["choices"] if 2 * named[one] > n]
        assert row["agreement"] == pytest.approx(_mean(_masi(a, b) for a, b in combinations(sets, 2)), abs=1e-6)
        assert row["confidence"] == pytest.approx(min(max(named[one], n - named[one]) / n for one in LABELS["choices"]))


def test_200_random_numbers_say_what_a_second_implementation_says(said):
    chance = random.Random(9)
    for _ in range(TASKS):
        n = chance.randint(1, 9)
        numbers = [chance.choice([chance.randint(0, 9), round(chance.uniform(0, 9), 2)]) for _ in range(n)]
        row = said(NUMBER, numbers)
        exact = [Decimal(str(one)) for one in numbers]
        middle = median(exact)
        assert Decimal(str(row["consensus"])) == middle
        assert row["agreement"] == pytest.approx(_mean(abs(a - b) <= 1 for a, b in combinations(exact, 2)), abs=1e-6)
        centres = {middle, sorted(exact)[(n - 1) // 2], sorted(exact)[n // 2]}
        assert row["confidence"] == pytest.approx(
            min(sum(abs(one - centre) <= 1 for one in exact) / n for centre in centres)
        )


@pytest.mark.parametrize(
    ("answers", "fields"),
    [
        (None, None),
        ([{"name": "kind", "at": "/kind", "type": "label"}], None),
        (LABEL, [{"path": "{kind}", "type": "label", "choices": [*CHOICES, None]}]),
        ([BOXES], [{"path": "{boxes}", "type": "boxes"}]),
        ([LABEL, {**NUMBER, "at": "count"}], None),
        ([LABEL, {**NUMBER, "type": "colour"}], None),
        ([LABEL] * 11, None),
        ("kind", None),
        ([NUMBER], [{"path": "{count}", "type": "number", "min": 0, "max": 100, "tolerance": 1}]),
        (TEXT, [{"path": "{deep,note/s}", "type": "text"}]),
        ({"name": "k", "at": "/k", "type": "label", "opinion": True}, [{"path": "{k}", "type": "opinion"}]),
        (
            {"name": "k", "at": "/k", "type": "ranking", "choices": [1, 2]},
            [{"path": "{k}", "type": "ranking", "choices": [1, 2]}],
        ),
        (
            [LABEL, {**LABELS, "choices": []}],
            [{"path": "{kind}", "type": "label", "choices": [*CHOICES, None]}, {"path": "{seen}", "type": "label"}],
        ),
    ],
)
def test_a_project_keeps_what_comparing_its_fields_needs(ledger, answers, fields):
    project = ledger.project()
    ledger.run("UPDATE project SET info = %(i)s WHERE id = %(p)s", p=project, i=Json({"answers": answers}))
    assert ledger.value("SELECT answer_fields FROM project WHERE id = %(p)s", p=project) == fields


def test_a_result_has_the_consensus_of_each_field_in_their_order(ledger):
    project = declaring(ledger, LABEL, NUMBER, TEXT, LABELS, tasks=1, n=3)
    (task,) = ledger.tasks(project)
    first = {"kind": "fox", "count": 2, "deep": {"note/s": "Two of them"}}
    answer(ledger, project, task, first, {"kind": "fox", "count": 3, "deep": {}}, {"kind": "owl", "count": "many"})
    assert ledger.row(FURTHER, t=task)["further"][1] is None, "still to be compared"
    ledger.compare()
    row = ledger.row(FURTHER, t=task)
    number, text, labels = row["further"]
    assert row["consensus"] == "fox"
    assert {key: number[key] for key in ("value", "answers", "agreement", "confidence")} == {
        "value": 2.5,
        "answers": 2,
        "agreement": 1,
        "confidence": 1,
    }
    assert (text["value"], text["answers"]) == ("Two of them", 1)
    assert labels == {"hash": None, "answers": 0, "agreement": None, "confidence": None}
    assert counts(ledger, project) == {(2, "value", "2.5"): 1, (3, "value", "Two of them"): 1, (4, "none", ""): 1}


def test_opinions_are_counted_and_have_no_consensus(ledger):
    opinions = [{**field, "opinion": True} for field in (LABEL, NUMBER, LABELS)]
    project = declaring(ledger, *opinions, TEXT, tasks=1, n=3)
    (task,) = ledger.tasks(project)
    first = {"kind": "fox", "count": 2, "seen": ["fox"], "deep": {"note/s": "x"}}
    answer(ledger, project, task, first, first, {"kind": None, "count": 9, "deep": {"note/s": "x"}})
    ledger.compare()
    row = ledger.row("SELECT * FROM result WHERE task_id = %(t)s", t=task)
    assert (row["consensus"], row["consensus_hash"], row["n_compared"], row["agreement"]) == (None, None, 2, None)
    number, labels, text = row["further"]
    nothing = {"hash": None, "agreement": None, "confidence": None}
    assert (number, labels) == ({**nothing, "answers": 3}, {**nothing, "answers": 2})
    assert (text["value"], text["agreement"]) == ("x", 1)
    assert row["posterior"] is row["reason"] is None and row["alpha"][:3] == [None] * 3
    assert ledger.value("SELECT count(*) FROM trust_model") == 0
    assert counts(ledger, project) == {(2, "tied", ""): 1, (3, "tied", ""): 1, (4, "value", "x"): 1}
    several = "SELECT several, agreement FROM outcomes_of(%(p)s) WHERE field = 1"
    assert ledger.rows(several, p=project) == [{"several": 0, "agreement": 0}]
    declare(ledger, project, LABEL, NUMBER, LABELS, TEXT)
    ledger.change("SELECT compare_results(%(p)s, 100)", p=project)
    assert ledger.row(FURTHER, t=task)["consensus"] == "fox", "facts after all"


def test_a_first_field_with_a_type_of_its_own_is_compared_by_it(ledger):
    project = declaring(ledger, NUMBER, tasks=2, n=3)
    one, other = ledger.tasks(project)
    answer(ledger, project, one, {"count": 2}, {"count": 3}, {"count": 90})
    answer(ledger, project, other, {"count": "?"}, {}, {"count": "none"})
    row = ledger.row("SELECT * FROM result WHERE task_id = %(t)s", t=one)
    assert (row["consensus"], row["n_compared"], row["further"]) == (3, 3, None)
    assert (row["agreement"], row["confidence"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    row = ledger.row("SELECT * FROM result WHERE task_id = %(t)s", t=other)
    assert (row["consensus"], row["consensus_hash"], row["n_compared"], row["agreement"]) == (None, None, 0, None)
    assert ledger.rows("SELECT kind, tasks FROM outcomes_of(%(p)s) ORDER BY 1", p=project) == [
        {"kind": "none", "tasks": 1},
        {"kind": "value", "tasks": 1},
    ]
    assert counts(ledger, project) == {}


@examples("True")
@pytest.mark.parametrize("fold", [False, True])
def test_counters_of_each_field_follow_whatever_becomes_of_results(ledger, fold):
    def now():
        ledger.compare()
        if fold:
            ledger.fold()
        return counts(ledger, project)

    project = declaring(ledger, LABEL, NUMBER, TEXT, tasks=3, n=2)
    first, second, third = ledger.tasks(project)
    for task in (first, second):
        answer(ledger, project, task, *[{"kind": "fox", "count": 1, "deep": {"note/s": "x"}}] * 2)
    answer(ledger, project, third, {"kind": "fox", "count": 5}, {"kind": "owl", "count": 5})
    assert now() == {(2, "value", "1"): 2, (2, "value", "5"): 1, (3, "value", "x"): 2, (3, "none", ""): 1}
    amended = Json({"kind": "owl", "count": 9, "deep": {"note/s": "y"}})
    ledger.row("SELECT * FROM amend_answer(%(p)s, 'c:1', %(t)s, %(i)s, clock())", p=project, t=third, i=amended)
    assert now() == {(2, "value", "1"): 2, (2, "value", "7"): 1, (3, "value", "x"): 2, (3, "value", "y"): 1}
    ledger.delete_run(project, ledger.counted(first)[0])
    assert now() == {(2, "value", "1"): 1, (2, "value", "7"): 1, (3, "value", "x"): 1, (3, "value", "y"): 1}
    ledger.set_n(project, [first], 1)
    assert now()[2, "value", "1"] == 2
    ledger.delete_tasks(project, [second])
    assert now() == {(2, "value", "1"): 1, (2, "value", "7"): 1, (3, "value", "x"): 1, (3, "value", "y"): 1}
    declare(ledger, project, LABEL, TEXT)
    assert ledger.value("SELECT count(*) FROM agreement_due") == 1
    ledger.change("SELECT compare_results(%(p)s, 100)", p=project)
    assert now() == {(2, "value", "x"): 1, (2, "value", "y"): 1}, "a field was taken away"
    declare(ledger, project, LABEL)
    ledger.change("SELECT compare_results(%(p)s, 100)", p=project)
    assert now() == {} and ledger.value("SELECT count(*) FROM result WHERE further IS NOT NULL AND last_version") == 0
    declare(ledger, project, {**LABEL, "name": "another"})
    assert ledger.value("SELECT count(*) FROM agreement_due") == 0, "a name changes nothing"
    ledger.delete_project(project)
    ledger.sweep(project)
    ledger.fold()
    assert ledger.value("SELECT count(*) FROM outcome_count") == 0


def test_two_tasks_that_say_the_same_are_completed_and_corrected_at_once(ledger, beside):
    project = declaring(ledger, LABEL, NUMBER, tasks=2, n=1)
    one, other = ledger.tasks(project)
    for actor, task in (("c:a", one), ("c:b", other)):
        ledger.hold(project, actor, task)
    first, second = beside(), beside()
    first.answer(project, "c:a", one, {"kind": "fox", "count": 4})
    second.run("SET lock_timeout = '200ms'")
    second.answer(project, "c:b", other, {"kind": "fox", "count": 4})
    second.commit()
    ledger.fold()
    assert counts(ledger, project) == {(2, "value", "4"): 1}
    first.commit()
    third = beside()
    third.row(
        "SELECT * FROM amend_answer(%(p)s, 'c:b', %(t)s, %(i)s, clock())",
        p=project,
        t=other,
        i=Json({"kind": "fox", "count": 6}),
    )
    ledger.fold()
    assert counts(ledger, project) == {(2, "value", "4"): 2}, "the correction is not committed"
    third.commit()
    assert counts(ledger, project) == {(2, "value", "4"): 1, (2, "value", "6"): 1}
    ledger.fold()
    assert counts(ledger, project) == {(2, "value", "4"): 1, (2, "value", "6"): 1}


def test_each_field_has_its_own_bound_of_counted_values(ledger):
    text = ledger.value("SELECT pg_get_functiondef('max_outcomes'::regproc)")
    ledger.run("CREATE OR REPLACE FUNCTION code.max_outcomes() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 2'")
    try:
        project = declaring(ledger, LABEL, NUMBER, TEXT, tasks=5, n=1)
        for nth, task in enumerate(ledger.tasks(project)):
            answer(
                ledger, project, task, {"kind": "fox", "count": nth // 2, "deep": {"note/s": "x" if nth < 4 else "y"}}
            )
        ledger.compare()
        ledger.fold()
        assert counts(ledger, project) == {
            (2, "value", "0"): 2,
            (2, "value", "1"): 2,
            (2, "other", ""): 1,
            (3, "value", "x"): 4,
            (3, "value", "y"): 1,
        }
        ledger.delete_tasks(project, ledger.tasks(project)[:2])
        ledger.change("SELECT choose_outcomes(%(p)s)", p=project)
        assert counts(ledger, project) == {
            (2, "value", "1"): 2,
            (2, "value", "2"): 1,
            (3, "value", "x"): 2,
            (3, "value", "y"): 1,
        }
    finally:
        ledger.run(text.replace("%", "%%"))


def test_a_value_too_large_to_compare_stops_no_answer(ledger):
    project = declaring(ledger, LABEL, {"name": "n", "at": "/n", "type": "number"}, TEXT, tasks=1, n=1)
    (task,) = ledger.tasks(project)
    huge = json.loads('{"kind": "fox", "deep": {"note/s": "' + "x" * 30_000 + '"}}')
    ledger.hold(project, "c:0", task)
    ledger.answer(project, "c:0", task, huge)
    ledger.run("UPDATE task_run SET info = jsonb_set(info, '{n}', '1e4000') WHERE task_id = %(t)s", t=task)
    ledger.run("SELECT compare_result(%(p)s, %(t)s)", p=project, t=task)
    ledger.compare()
    number, text = ledger.row(FURTHER, t=task)["further"]
    assert number["answers"] == 0 and text["answers"] == 1 and "value" not in text
    assert counts(ledger, project) == {(2, "none", ""): 1, (3, "value", ""): 1}
