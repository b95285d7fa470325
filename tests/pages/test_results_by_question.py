"""The results page by question: opinions are counted, facts have a consensus, and people read words, not names."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import pytest
import pytest_twisted
from support.checks.page_contexts import asked_questions
from support.checks.shows import shows

from crowdd.features.results.consensus import wilson_interval
from crowdd.features.results.question_results import bars_of, figures_of, hidden_cells, histogram_of, years_of

CHOICES = [
    {"value": one, "text": {"en": text, "de": f"{text} (de)"}} for one, text in (("b1", "By bike"), ("b2", "By bus"))
]
AGREED = ("greement", "onsensus", "eliab", "winner", "greed")


def questions(kind: str) -> dict[str, Any]:
    asked = [
        {"name": "how", "type": "single_choice", "text": "How do you come?", "choices": CHOICES},
        {"name": "glad", "type": "rating", "text": "How glad are you?"},
        {"name": "rate", "type": "matrix", "text": "How good?", "rows": CHOICES, "columns": CHOICES},
        {"name": "order", "type": "ranking", "text": "In which order?", "choices": CHOICES},
        {"name": "wish", "type": "long_text", "text": "What else?"},
    ]
    return {"version": 1, "steps": [{"name": "s", "questions": [{**one, "kind": kind} for one in asked]}]}


async def answered(served: Any, kind: str, answers: list[dict[str, Any]]) -> Any:
    """A project that asks these questions of one task; its owner."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=len(answers))
    info = {"questions": questions(kind), "task_presenter": None}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    for nth, answer in enumerate(answers):
        person = await served.person(f"p{nth}")
        task = (await person.get(f"/api/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": {**answer, "questions_version": 1}}
        assert (await person.post("/api/taskrun", json=body)).status == 200
    return owner, project["tasks"][0]


ANSWERS: list[dict[str, Any]] = [
    {"how": "b1", "glad": 1, "rate": {"b1": "b2", "b2": "b1"}, "order": ["b1", "b2"], "wish": "More <b>trees"},
    {"how": "b1", "glad": 2, "rate": {"b1": "b2"}, "order": ["b1", "b2"]},
    {"how": "b1", "glad": 4, "order": ["b2", "b1"]},
]


def told(html: str) -> str:
    """What a page says in its main part."""
    return html.partition("<main")[2].partition("</main>")[0]


@shows("page-results-fields")
@pytest_twisted.ensureDeferred
async def test_opinions_are_counted_and_never_called_agreed(served):
    owner, task = await answered(served, "opinion", ANSWERS)
    page = told((await owner.get("/project/birds/results", headers={"Accept": "text/html"})).body.decode())
    for words in ("How do you come?", "By bike", "3 answers", "Two questions crossed", "More &lt;b&gt;trees"):
        assert words in page, words
    low, high = wilson_interval(3, 3)
    assert f"{round(100 * low)}" in page and high == pytest.approx(1)
    assert "Median 2" in page and "1.33" in page and "Wilson" in page
    figures = (await owner.page("/project/birds/results")).json()
    assert [one["opinion"] for one in figures["fields"]] == [True] * 6 and figures["alpha"] == []
    assert {(one["tied"], one["several"], one["agreement"]) for one in figures["fields"]} == {(0, 0, None)}
    alone = told((await owner.get(f"/project/birds/tasks/{task}", headers={"Accept": "text/html"})).body.decode())
    assert "By bike" in alone and "How glad are you?" in alone and not re.search(r"\bb1\b", alone)
    statistics = told((await owner.get("/project/birds/stats", headers={"Accept": "text/html"})).body.decode())
    for html in (page, alone, statistics):
        assert [word for word in AGREED if word in html] == []
    assert (await owner.page(f"/project/birds/tasks/{task}")).json()["agreement"]["leading"] is None
    result = (await owner.get("/api/result?project_id=1")).json()
    for one in result:
        assert all("value" not in field and field["agreement"] is None for field in one["consensus"].values())


@pytest_twisted.ensureDeferred
async def test_facts_have_a_consensus_in_the_words_of_their_questions(served):
    owner, _ = await answered(served, "fact", ANSWERS)
    await served.run_job("compare_answers")
    page = told((await owner.get("/project/birds/results", headers={"Accept": "text/html"})).body.decode())
    assert "By bike" in page and "Agreement" in page and "Opinions" not in page and "1 task" in page
    assert "the most frequent one counts" in page
    assert "Support: " in page and "Confidence" not in page  # which only a sample measures
    headers = {"Accept": "text/html", "Accept-Language": "de"}
    german = told((await served.client().get("/project/birds/results", headers=headers)).body.decode())
    assert "By bike (de)" in german and "By bus (de)" in german
    assert "weigh more" in page and "Nobody was shown the answers of others" in page and "suggested" not in page
    info = (await owner.get("/api/project?short_name=birds")).json()[0]["info"]
    info["questions"]["steps"][0]["questions"][0]["suggest"] = {"column": "guess"}
    changed = await owner.put("/api/project/1", json={"info": {**info, "sched": "incremental"}})
    assert changed.status == 200, changed.text
    page = told((await owner.get("/project/birds/results", headers={"Accept": "text/html"})).body.decode())
    assert "Each person was shown the answer of the one before." in page and "Nobody was shown" not in page
    assert "Some questions showed a suggested answer." in page


def test_figures_are_those_of_an_independent_count():
    chance = random.Random(3)
    for _ in range(200):
        values = [chance.choice([chance.randint(-3, 9), chance.uniform(0, 1000)]) for _ in range(chance.randint(1, 60))]
        bins = histogram_of(values)
        assert sum(bins.values()) == len(values) and len(bins) <= 14
        figures = figures_of(values)
        ordered = sorted(values)
        assert figures["lower"] <= figures["median"] <= figures["upper"]
        assert sum(value <= figures["median"] for value in ordered) * 2 >= len(ordered)
        counts = Counter(chance.choice("abc") for _ in values)
        for bar in bars_of(counts, len(values)):
            assert bar["n"] == counts[str(bar["label"])] and bar["low"] <= bar["share"] <= bar["high"]
    assert years_of(["1889-05", "1891"]) == {"1889": 1, "1890": 0, "1891": 1}
    assert next(iter(years_of(["1701", "1899-01-01"]))) == "1700–1709"


def test_no_sum_of_a_cross_table_gives_a_hidden_cell_away():
    assert hidden_cells([[9, 0], [7, 30]]) == set()
    assert hidden_cells([[4, 0, 9], [20, 8, 6]]) == {(0, 0), (0, 1), (1, 0), (1, 1)}, (
        "4 = the row or column less others"
    )
    assert hidden_cells([[3], [8], [9]]) == {(0, 0), (1, 0)}, "the only one of its row, which has no sum"
    chance = random.Random(6)
    for _ in range(200):
        counts = [[chance.randint(0, 12) for _ in range(chance.randint(2, 5))]]
        counts += [[chance.randint(0, 12) for _ in counts[0]] for _ in range(chance.randint(1, 4))]
        hidden = hidden_cells(counts)
        assert {(i, j) for i, line in enumerate(counts) for j, n in enumerate(line) if 0 < n < 5} <= hidden
        rows, columns = ([Counter(at[axis] for at in hidden)[nth] for nth in range(6)] for axis in (0, 1))
        assert 1 not in rows and 1 not in columns


def test_each_type_has_its_picture_and_small_cells_stay_empty():
    page = asked_questions([{"answers": 1}] * 2)
    pictures = {one["name"]: one["picture"] for one in page["asked"].questions}
    for kind in ("opinion", "fact"):
        label = "bars" if kind == "opinion" else "outcomes"
        expected = [
            label,
            label,
            label,
            "rows",
            "ranking",
            "histogram",
            "histogram",
            "histogram",
            "texts",
            "map",
            "marks",
        ]
        assert [picture for name, picture in pictures.items() if name.endswith(kind)] == expected
    by_name = {one["name"]: one for one in page["asked"].questions}
    assert (by_name["how_opinion"]["n"], by_name["how_opinion"]["unsure"]) == (9, 1)
    assert [(one["label"], one["rank"]) for one in by_name["order_opinion"]["ranks"]] == [
        ("bike <b>", 1.1),
        ("bus <b>", 1.9),
    ]
    assert [row["n"] for row in by_name["rate_fact"]["rows"]] == [3, 3]
    cross = page["asked"].cross
    assert cross["n"] == 9 and cross["rows"][0][1][0] == {"n": 9, "share": 1}
