"""What owners learn of suggestions: those that do not fit, before publishing, and whether they change answers."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.features.results.suggestion_influence import influences
from crowdd.kinds.questions.suggested import suggestion_schema, usable

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
ANIMALS = [{"value": one, "text": one.title()} for one in ("fox", "owl")]
SPECIES = {"name": "species", "type": "single_choice", "text": "Which animal?", "choices": ANIMALS}
BOXES = {"name": "boxes", "type": "box", "text": "Where?", "on": "photo"}
MEDIA = [{"name": "photo", "type": "picture", "source": {"column": "url"}, "description": "A photo"}]
FIRST, SECOND = ({"x": x, "y": 10, "width": 100, "height": 80} for x in (10, 20))


def suggesting(*questions: Any) -> Any:
    asked = [{**one, "suggest": {"column": f"guess_{one['name']}"}} for one in questions]
    return {"version": 1, "steps": [{"name": "look", "media": MEDIA, "questions": asked}]}


async def project_of(served: Any, infos: list[Any], *, published: bool = False) -> tuple[Any, Any]:
    owner = await served.person("owner")
    project = await served.project(owner)
    info = {"questions": suggesting(SPECIES, BOXES), "task_presenter": None}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    tasks = [{"project_id": project["id"], "info": {"url": "/a.jpg", **one}, "n_answers": 4} for one in infos]
    assert (await owner.post("/api/task", json=tasks)).status == 200
    if published:
        assert (await owner.post("/project/birds/publish", json={})).status == 200
    return owner, project


async def shown(owner: Any, path: str) -> str:
    answer = await owner.get(path, headers=HTML)
    assert answer.status == 200, answer.text
    return " ".join(answer.text.split())


@pytest.mark.parametrize(
    ("question", "value", "suggested"),
    [
        (SPECIES, "fox", "fox"),
        (SPECIES, "cat", None),
        (SPECIES, None, None),
        ({"type": "number", "max": 9}, "7.5", 7.5),
        ({"type": "number", "max": 9}, 10, None),
        ({"type": "yes_no"}, "true", True),
        ({"type": "yes_no"}, 1, None),
        ({"type": "short_text"}, "12", "12"),
        ({"type": "multiple_choice", "choices": ANIMALS}, '["fox"]', ["fox"]),
        (BOXES, [FIRST], [FIRST]),
        (BOXES, '[{"x": 1}]', None),
        (BOXES, "[", None),
        (BOXES, [], []),
    ],
)
def test_what_fits_the_question_is_suggested(question: Any, value: Any, suggested: Any) -> None:
    assert usable(suggestion_schema({"name": "q", "text": "?", **question}), value) == suggested


@shows("questions-suggest")
@pytest_twisted.ensureDeferred
async def test_publishing_says_how_many_suggestions_do_not_fit(served: Any) -> None:
    good = {"guess_species": "fox", "guess_boxes": [FIRST]}
    owner, project = await project_of(served, [good, {}, {"guess_species": "cat"}, good])
    page = await shown(owner, "/project/birds/publish")
    assert "Tasks whose “guess_species” does not fit its question: 1 of the newest 4." in page
    assert "“guess_boxes”" not in page
    tasks = (await owner.get(f"/api/task?project_id={project['id']}&limit=9")).json()
    bad = next(task for task in tasks if task["info"].get("guess_species") == "cat")
    info = {"guess_species": "owl", "url": "/a.jpg"}
    assert (await owner.put(f"/api/task/{bad['id']}", json={"info": info})).status == 200
    assert "Suggested answers fit their questions." in await shown(owner, "/project/birds/publish")


def answers(name: str, shown: bool, n: int, n_same: int, same: Any, other: Any) -> list[Any]:
    made = [same] * n_same + [other] * (n - n_same)
    return [{"name": name, "shown": shown, "answer": one, "suggested": same} for one in made]


def test_shares_of_answers_that_agree_have_intervals_and_are_apart_where_they_differ() -> None:
    near = {**SECOND, "selector": {"type": "FragmentSelector"}}
    far = {**FIRST, "x": 500}
    rows = [
        *answers("species", True, 100, 95, "fox", "owl"),
        *answers("species", False, 40, 20, "fox", None),
        *answers("boxes", True, 10, 9, [FIRST], [far]),
        {"name": "boxes", "shown": False, "answer": [near], "suggested": [FIRST]},  # as good as the same
        {"name": "boxes", "shown": False, "answer": [far], "suggested": "what does not fit"},
    ]
    species, boxes = influences([SPECIES, BOXES], [], rows)
    assert (species["shown"]["right"], species["shown"]["n"]) == (95, 100)
    assert (species["hidden"]["right"], species["hidden"]["n"], species["hidden"]["share"]) == (20, 40, 0.5)
    assert species["apart"] and species["hidden"]["high"] < species["shown"]["low"] < 0.95 < species["shown"]["high"]
    assert (boxes["shown"]["right"], boxes["hidden"]["right"], boxes["hidden"]["n"]) == (9, 1, 1)
    assert not boxes["apart"]


@shows("questions-suggest")
@pytest_twisted.ensureDeferred
async def test_owners_read_what_became_of_suggestions_and_nobody_else(served: Any) -> None:
    owner, project = await project_of(served, [{"guess_species": "fox"}], published=True)
    for nth, (said, told) in enumerate(
        [
            ("fox", {"shown": True, "outcome": "accepted", "seconds": 2}),
            ("owl", {"shown": True, "outcome": "changed", "seconds": 4}),
            ("fox", {"shown": True, "outcome": "accepted", "seconds": 9}),
            ("owl", {"shown": False}),
        ]
    ):
        person = await served.person(f"p{nth}")
        task = (await person.get(f"/api/{project['id']}/newtask")).json()
        body = {
            "project_id": project["id"],
            "task_id": task["id"],
            "info": {"species": said, "questions_version": 1},
            "circumstances": {"suggestions": {"species": told, "boxes": {"shown": False}}},
        }
        assert (await person.post("/api/taskrun", json=body)).status == 200
    page = await shown(owner, "/project/birds/results")
    row = page.partition("Suggested answers")[2].partition("</tr>")[2].partition("</tr>")[0]
    cells = [cell.partition(">")[2].partition("</td>")[0] for cell in row.split("<td")[1:]]
    assert cells[:4] == ["2", "1", "0", "4.0"]
    assert cells[4].startswith("67 %") and "n = 3" in cells[4]
    assert cells[5].startswith("0 %") and "n = 1" in cells[5]
    visitor = served.client()
    assert "Suggested answers" not in await shown(visitor, "/project/birds/results")
