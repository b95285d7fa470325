"""The map and the timeline of results: their bins are those of the rows, and they are drawn where they belong."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.features.results import statements as result_statements
from crowdd.features.results.maps import WIDTH, draw_map
from crowdd.features.results.result_display import draw_timeline

PLACES = {
    "Bern": {"lat": 46.95, "lon": 7.45, "date": "2023-01-05"},
    "Basel": {"lat": "47.56", "lon": "7.59", "date": "2023-03-09"},
    "Zurich": {"lat": 47.37, "lon": 8.54, "date": "2023-03-01T10:00"},
    "nowhere": {"lat": "?", "lon": 8, "date": "soon"},
    "too far": {"lat": 100, "lon": 8, "date": "2023-02-31"},
}


@pytest.fixture
def placed(served):
    """A published project with the tasks of PLACES, answered once by one person; its owner."""

    async def make(infos, answers):
        owner = await served.person("owner")
        project = await served.project(owner, tasks=len(infos), published=True, n_answers=1)
        for task, info in zip(project["tasks"], infos, strict=True):
            assert (await owner.put(f"/api/task/{task}", json={"info": info})).status == 200
        person = await served.person("ada")
        for answer in answers:
            task = (await person.get(f"/api/{project['id']}/newtask")).json()
            body = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": answer}}
            assert (await person.post("/api/taskrun", json=body)).status == 200
        return owner

    return make


async def charts(client, query=""):
    return (await client.page(f"/project/birds/results{query}")).json()["charts"]


@shows("page-results-charts")
@pytest_twisted.ensureDeferred
async def test_tasks_without_a_winner_are_the_last_group_however_few_answers_there_are(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, n_answers=2)
    for task, info in zip(project["tasks"], PLACES.values(), strict=False):
        assert (await owner.put(f"/api/task/{task}", json={"info": info})).status == 200
    for name, answers in (("ada", ("fox", "fox")), ("bob", ("fox", "owl"))):
        person = await served.person(name)
        for answer in answers:
            task = (await person.get(f"/api/{project['id']}/newtask")).json()
            body = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": answer}}
            assert (await person.post("/api/taskrun", json=body)).status == 200
    figures = await charts(served.client())
    assert [one["answer"] for one in figures["answers"]] == ["fox"]
    none = len(figures["answers"]) + 1
    assert sorted(point["group"] for point in figures["map"]["points"]) == [0, none]
    assert sorted(bar["group"] for bar in figures["timeline"]["times"]) == [0, none]
    page = (await served.client().get("/project/birds/results")).text
    assert "No single winner" in page and "Other answers" not in page


@shows("page-results-charts")
@pytest_twisted.ensureDeferred
async def test_places_and_dates_are_counted_by_answer(served, placed):
    owner = await placed(list(PLACES.values()), ["fox", "fox", "owl", "fox", "cat"])
    figures = await charts(served.client())
    assert (figures["step"], figures["tasks"]) == (1, 5) and figures["map"]["columns"] == ["lat", "lon"]
    answers = [one["answer"] for one in figures["answers"]]
    assert answers[0] == "fox" and sorted(answers) == ["cat", "fox", "owl"]
    points = {(one["y"], one["x"]): (answers[one["group"]], one["n"]) for one in figures["map"]["points"]}
    assert points == {(46.95, 7.45): ("fox", 1), (47.56, 7.59): ("fox", 1), (47.37, 8.54): ("owl", 1)}
    times = [(one["time"], answers[one["group"]], one["n"]) for one in figures["timeline"]["times"]]
    assert sorted(times) == [("2023-01", "fox", 1), ("2023-02", "cat", 1), ("2023-03", "fox", 1), ("2023-03", "owl", 1)]
    assert figures["timeline"]["column"] == "date"
    page = (await served.client().get("/project/birds/results")).text
    assert "From the columns lat, lon." in page and page.count('<circle class="g') == 3 + 2 + 3
    for query in ("?answer=fox", "?before=99999", "?min_agreement=50"):
        assert await charts(owner, query) is None, query
    assert await charts(owner, "?orderby=least_agreed") == figures


@pytest_twisted.ensureDeferred
async def test_a_project_with_neither_is_not_read(served, placed, monkeypatch):
    async def never(*_):
        raise AssertionError

    monkeypatch.setattr(result_statements, "count_bins", never)
    await placed([{"word": "fox"}, {"word": "2023"}], ["fox", "owl"])
    assert await charts(served.client()) is None


@pytest_twisted.ensureDeferred
async def test_of_many_tasks_every_nth_is_read_and_rare_answers_are_others(served, placed, monkeypatch):
    monkeypatch.setattr(result_statements, "MAX_TASKS", 4)
    await placed([{"year": 1900 + 30 * n} for n in range(8)], ["a", "x", "b", "x", "c", "x", "d", "x"])
    document = await charts(served.client())
    assert (document["step"], document["tasks"], document["map"]) == (2, 4, None)
    assert [(one["time"], one["n"]) for one in document["timeline"]["times"]] == [
        ("190", 1),
        ("196", 1),
        ("202", 1),
        ("208", 1),
    ]
    monkeypatch.setattr(result_statements, "MAX_TASKS", 8)
    groups = [one["group"] for one in (await charts(served.client()))["timeline"]["times"]]
    assert groups.count(0) == 4 and groups.count(result_statements.MAX_CHART_ANSWERS) == 1, (
        "a fifth answer is one of the others"
    )
    assert "One of every" not in (await served.client().get("/project/birds/results")).text


def place(x, y, group=0, n=1):
    return {"x": x, "y": y, "group": group, "n": n}


@pytest.mark.parametrize(
    "points",
    [
        [place(8.5, 47.4)],
        [place(-180, -90), place(180, 90, n=9)],
        [place(8, 47), place(8, 48)],
        [place(8, 47), place(30, 47.001)],
        [place(0, 89.9), place(1, 90)],
    ],
)
def test_a_map_holds_its_points_and_keeps_its_shape(points):
    drawn = draw_map(points)
    assert all(0 <= point["x"] <= WIDTH and 0 <= point["y"] <= drawn["height"] for point in drawn["points"])
    assert 240 <= drawn["height"] <= 480
    assert len(drawn["meridians"]) <= 12 and len(drawn["parallels"]) <= 12
    assert 0 <= drawn["scale"] <= WIDTH / 4 + 1


def test_north_is_above_and_east_on_the_right():
    north, east = draw_map([place(8, 48, group=0), place(9, 47, group=1)])["points"]
    assert north["y"] < east["y"] and north["x"] < east["x"]
    (far,) = draw_map([place(120.12341, -7.5)])["points"]
    assert far["place"] == "-7.5°, 120.1234°", "to ten metres, everywhere"


@pytest.mark.parametrize(
    ("times", "labels"),
    [
        (["2023-11", "2024-02"], ["2023-11", "2023-12", "2024-01", "2024-02"]),
        (["2023-02-26", "2023-02-28", "2023-02-31"], ["2023-02-26", "2023-02-27", "2023-02-28", "2023-02-31"]),
        (["1998", "2001"], ["1998", "1999", "2000", "2001"]),
        (["198", "200"], ["1980–1989", "1990–1999", "2000–2009"]),
        (["09", "11"], ["0900–0999", "1000–1099", "1100–1199"]),
    ],
)
def test_a_timeline_leaves_no_time_out(times, labels):
    drawn = draw_timeline([{"time": time, "group": 1, "n": nth + 1} for nth, time in enumerate(times)], 3)
    assert [bar["label"] for bar in drawn["bars"]] == labels
    assert sum(bar["n"] for bar in drawn["bars"]) == sum(range(len(times) + 1)) and drawn["highest"] in (
        len(times),
        len(times) + 1,
    )
    assert drawn["highest"] % 2 == 0


def test_pieces_of_a_bar_stand_on_each_other():
    (bar,) = draw_timeline([{"time": "2023", "group": group, "n": 2} for group in (0, 2)], 3)["bars"]
    assert [(piece["y"], piece["height"]) for piece in bar["pieces"]] == [(80, 80), (0, 80)]
    assert bar["counts"] == [2, 0, 2]
