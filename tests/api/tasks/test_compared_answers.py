"""Texts and marks on the way from answers to results, pages, page and the agreement of a project."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.browsers import signed_in
from support.checks.shows import shows
from support.until import until

from crowdd.features.operations import statements as operations_statements

FIELDS = [
    {"name": "line", "at": "/line", "type": "text"},
    {"name": "boxes", "at": "/boxes", "type": "boxes"},
    {"name": "kind", "at": "/kind", "type": "label", "choices": ["fox", "owl"]},
    {"name": "names", "at": "/names", "type": "spans"},
]


def box(x: float) -> dict[str, float]:
    return {"x": x, "y": 0, "width": 100, "height": 50}


ANSWERS = [
    {"line": "the old barn", "boxes": [box(0)], "kind": "fox", "names": [{"start": 4, "end": 7}]},
    {"line": "The old  barn", "boxes": [box(2), box(500)], "kind": "fox", "names": [{"start": 4, "end": 7}]},
    {"line": "the odd barn", "boxes": [box(1)], "kind": "owl", "names": []},
]


async def answered(served: Any) -> tuple[Any, Any]:
    """A project with two tasks that three people have answered."""
    owner = await served.person("owner")
    info = {"text": "the old barn <b>", "picture": "/uploads/project-8/0123.png"}
    project = await served.project(owner, tasks=2, published=True, n_answers=3, info=info)
    changed = await owner.put(
        f"/api/project/{project['id']}", json={"info": {"task_presenter": "<p>?</p>", "answers": FIELDS}}
    )
    assert changed.status == 200, changed.text
    for nth, answer in enumerate(ANSWERS):
        person = await served.person(f"person{nth}")
        for _ in project["tasks"]:
            task = (await person.get(f"/api/{project['id']}/newtask")).json()
            body = {"project_id": project["id"], "task_id": task["id"], "info": answer}
            assert (await person.post("/api/taskrun", json=body)).status == 200
    return owner, project


@shows("result-compared", "project-agreement")
@pytest_twisted.ensureDeferred
async def test_a_result_is_compared_soon_after_the_task_is_complete(served: Any) -> None:
    owner, project = await answered(served)
    at = f"/project/{project['short_name']}/results"

    records = (await owner.get(f"/api/result?project_id={project['id']}")).json()
    assert [one["consensus"]["kind"]["value"] for one in records] == ["fox", "fox"], "known at once"
    due = "SELECT FROM comparison_due UNION ALL SELECT FROM agreement_due"

    async def compared() -> bool:
        return not (await served.database.fetch(f"SELECT 1 WHERE EXISTS ({due})"))

    await until(compared)
    result, other = (await owner.get(f"/api/result?project_id={project['id']}")).json()
    consensus = result["consensus"]
    assert (consensus["line"]["value"], consensus["line"]["answers"]) == ("the old barn", 3)
    assert consensus["line"]["confidence"] == pytest.approx(1 - 1 / 36, abs=1e-6)
    assert consensus["boxes"]["value"] == [box(1)] and consensus["boxes"]["confidence"] == 1
    assert consensus["names"]["value"] == [{"start": 4, "end": 7}] and other["consensus"] == consensus
    page = (await owner.page(at)).json()
    assert page["summary"]["pending"] == 0

    async def measured() -> Any:
        records = (await owner.get(f"/api/project/{project['id']}/agreement")).json()
        return records if all(one["alpha"] is not None for one in records) else None

    alpha = await until(measured)
    page = (await owner.page(at)).json()
    assert [one["name"] for one in alpha] == ["line", "boxes", "kind", "names"] and page["alpha"] == alpha
    assert alpha[2] == {
        "name": "kind",
        "type": "label",
        "alpha": pytest.approx(1 - (4 / 6) / (16 / 30)),
        "low": None,
        "high": None,
        "tasks": 2,
        "answers": 6,
        "pending": False,
        "failure": None,
    }
    html = await owner.get(at, headers={"Accept": "text/html"})
    for shown in ("the <mark>old</mark> barn &lt;b&gt;", "Too few tasks to say", "1 box", "data-marks"):
        assert shown in html.text, shown
    assert "passages" not in page["rows"][0]["fields"][3]
    listed = (await served.client().get(f"/api/project/{project['id']}/agreement")).json()
    assert listed == alpha, "results are public"
    assert (await served.client().get("/api/project/999/agreement")).status == 404
    await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})
    assert (await served.client().get(f"/api/project/{project['id']}/agreement")).status in (401, 403)


@shows("page-results-compare")
@pytest_twisted.ensureDeferred
async def test_owners_see_what_could_not_be_compared_and_have_it_tried_again(served: Any) -> None:
    owner, project = await answered(served)
    at = f"/project/{project['short_name']}"
    browser = await signed_in(served, "owner")
    html = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
    due = "SELECT 1 FROM comparison_due UNION ALL SELECT 1 FROM alpha_due UNION ALL SELECT 1 FROM agreement_due"

    async def compared() -> bool:
        return not await served.database.fetch(due)

    await until(compared)
    # As it is where the process had neither time nor memory.
    await served.database.execute(
        "INSERT INTO comparison_due (project_id, task_id, result_id, fresh, failure, tries) SELECT project_id, task_id, id, false,"
        " 'answer field 1 (text): took too much memory', 3 FROM result WHERE task_id = %(t)s AND last_version",
        {"t": project["tasks"][0]},
    )
    await served.database.execute(
        "UPDATE result SET consensus = NULL, consensus_hash = NULL, n_compared = NULL WHERE task_id = %(t)s",
        {"t": project["tasks"][0]},
    )
    await served.database.execute(
        "UPDATE alpha_expected SET expected = NULL, answers = 0, failure = 'no time', tries = 3 WHERE field = 1"
    )
    text = (await browser.get(f"{at}/results", headers=html)).text
    for words in ("The answers to 1 task could not be compared.", "took too much memory", "Could not be compared"):
        assert words in text, words
    assert "The agreement beyond chance of 1 question could not be computed." in text and "no time" in text
    assert "This is tried again by itself." not in text and "Not known: all answers are the same" not in text
    assert "2 comparisons of answers failed." in (await browser.get(f"{at}/", headers=html)).text
    line = (await owner.get(f"/api/project/{project['id']}/agreement")).json()[0]
    assert (line["alpha"], line["pending"], line["failure"]) == (None, False, "no time")
    health = await operations_statements.read_db_health(served.database)
    assert health["comparisons_failed"] == 2
    assert health["comparison_failure"] == f"project {project['short_name']}, agreement at answer field 1: no time"
    stranger = await served.person("stranger")
    assert "could not be compared" not in (await stranger.get(f"{at}/results", headers=html)).text
    assert (await stranger.post(f"{at}/results/compare")).status == 403
    again = await browser.send_form(f"{at}/results/compare", {}, f"{at}/results")
    assert (again.json()["status"], again.json()["n_comparisons"]) == ("success", 2)
    await until(compared)
    text = (await browser.get(f"{at}/results", headers=html)).text
    assert "could not be compared" not in text and "comparisons of answers" not in text
    first = (await owner.get(f"/api/result?task_id={project['tasks'][0]}")).json()[0]
    assert first["consensus"]["line"]["value"] == "the old barn"
    line = (await owner.get(f"/api/project/{project['id']}/agreement")).json()[0]
    assert line["alpha"] is not None and line["failure"] is None


@pytest_twisted.ensureDeferred
async def test_owners_are_told_of_answers_that_do_not_fit(served: Any) -> None:
    owner = await served.person("owner")
    project = await served.project(owner, tasks=20, published=True, n_answers=1)
    at = f"/project/{project['short_name']}/"
    person = await served.person("person")
    for nth in range(20):
        task = (await person.get(f"/api/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": {"kind": "fox" if nth > 1 else "bear"}}
        assert (await person.post("/api/taskrun", json=body)).status == 200
    info = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    field = {"name": "kind", "at": "/kind", "type": "label", "choices": ["fox"]}
    for choices, warned in ((["fox"], True), (["fox", "bear"], False)):
        await owner.put(
            f"/api/project/{project['id']}", json={"info": {**info, "answers": [{**field, "choices": choices}]}}
        )
        html = (await owner.get(at, headers={"Accept": "text/html"})).text
        assert ("2 of the newest 20 answers do not contain what they should." in html) is warned
        assert "do not fit" not in (await person.get(at, headers={"Accept": "text/html"})).text
