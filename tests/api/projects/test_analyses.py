"""Analyses of a project: by the API, by the queue of a running server, and what stays of them."""

from __future__ import annotations

import csv
import hashlib
import io
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.ledger import Ledger

from crowdd.features.analyses import analyses
from crowdd.features.analyses import process as analysis_process
from crowdd.features.analyses import runner as analysis_runner
from crowdd.features.analyses.methods import METHODS
from crowdd.features.projects import projects as projects_of_owners
from crowdd.features.tasks import changes
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.errors import StoppedError

FIELD = {"name": "species", "at": "/species", "type": "label", "choices": ["fox", "owl"]}
SAID = {"c:1": ["fox", "owl", "fox", "owl"], "c:2": ["fox", "owl", "fox", "cat"], "c:3": ["owl", "owl", "fox", "fox"]}


@pytest.fixture
def ledger(dsn):
    made = Ledger(dsn)
    yield made
    made.close()


async def answered(served: Any, ledger: Ledger, fields: Any = FIELD) -> tuple[Any, int]:
    """An owner, and a project of four tasks with three answers each."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=4, published=True, n_answers=3)
    info = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    changed = {"info": info | ({"answers": fields} if fields else {})}
    assert (await owner.put(f"/api/project/{project['id']}", json=changed)).status == 200
    for actor, labels in SAID.items():
        for task, value in zip(ledger.ask(project["id"], actor, limit=4).tasks, labels, strict=True):
            ledger.answer(project["id"], actor, task, {"species": value, "answer": value})
    await served.run_job("compare_results")  # or it changes results beside an analysis
    while ledger.rows("SELECT task_id FROM comparison_due WHERE failure IS NULL"):
        await served.run_job("compare_answers")
    return owner, project["id"]


async def finish(served: Any) -> list[Any]:
    """Lets the worker of the server do what waits, and returns the items as they ended."""
    worker = served.server._worker
    while begun := await worker.take():
        for settled in begun:
            await settled
    while worker._active:
        for settled in [*worker._active.values()]:
            await settled
    return await served.database.fetch("SELECT id, state, done, total, error FROM queue_item ORDER BY id")


def at(project: int, *parts: object) -> str:
    return "/".join([f"/api/project/{project}/analysis", *map(str, parts)])


@shows("project-analysis", "project-analysis-tasks", "project-analysis-volunteers", "project-analysis-items")
@pytest_twisted.ensureDeferred
async def test_an_analysis_labels_tasks_and_measures_volunteers(served, ledger):
    owner, project = await answered(served, ledger)
    ledger.run("DELETE FROM agreement_due")
    ledger.run("UPDATE result SET consensus = '\"fox\"' WHERE task_id = (SELECT min(task_id) + 1 FROM result)")
    begun = await owner.post(at(project), json={"method": "majority"})
    assert begun.status == 200 and begun.json()["state"] == "waiting", begun.json()
    (item,) = await finish(served)
    assert (item["state"], item["done"], item["total"]) == ("done", 8, 8), item
    (analysis,) = (await owner.get(at(project))).json()
    assert analysis == (await owner.get(at(project, analysis["id"]))).json()
    assert {name: analysis[name] for name in ("state", "method", "answers", "n_answers", "n_unfit", "n_tasks", "n_volunteers", "n_different")} == {
        "state": "done", "method": "majority", "answers": "counted", "n_answers": 11, "n_unfit": 1, "n_tasks": 4, "n_volunteers": 3, "n_different": 1,
    }  # fmt: skip
    assert (
        analysis["choices"] == ["fox", "owl"]
        and analysis["user_name"] == "owner"
        and set(analysis["versions"]) == {"crowdd", "numpy", "scipy"}
    )
    tasks = (await owner.get(at(project, analysis["id"], "tasks"))).json()
    assert [(one["decided"], one["value"], one["consensus"]) for one in tasks] == [
        (True, "fox", "fox"), (True, "owl", "fox"), (True, "fox", "fox"), (False, None, None),
    ]  # fmt: skip
    assert [one["different"] for one in tasks] == [False, True, False, False]
    different = (await owner.get(at(project, analysis["id"], "tasks"), params={"different": "true"})).json()
    assert different == [tasks[1]]
    lines = "".join(
        f"{task['task_id']},{nth},{1 + (label == 'owl')}\n"
        for place, task in enumerate(tasks)
        for nth, actor in enumerate(SAID, 1)
        if (label := SAID[actor][place]) != "cat"
    )
    assert analysis["input_hash"] == hashlib.sha256(lines.encode()).hexdigest()
    volunteers = (await owner.get(at(project, analysis["id"], "volunteers"))).json()
    words = {row["actor"]: row["word"] for row in ledger.rows("SELECT actor, word FROM volunteer_word")}
    accuracy = {"c:1": (2 / 3 + 1 + 1 + 0.5) / 4, "c:2": (2 / 3 + 1 + 1) / 3, "c:3": (1 / 3 + 1 + 1 + 0.5) / 4}
    assert {one["volunteer"]: one["accuracy"] for one in volunteers} == {
        words[actor]: pytest.approx(share, abs=1e-5) for actor, share in accuracy.items()
    }
    pages = [(await owner.get(at(project, analysis["id"], "volunteers"), params={"limit": "1"})).json()]
    while pages[-1]:
        after = {"limit": "1", "after": pages[-1][0]["volunteer"]}
        pages.append((await owner.get(at(project, analysis["id"], "volunteers"), params=after)).json())
    assert [one for page in pages for one in page] == volunteers
    assert (await owner.get(at(project, analysis["id"], "items"))).json() == [], "nothing was compared"
    behind = {"last_id": str(tasks[1]["task_id"]), "limit": "1"}
    assert (await owner.get(at(project, analysis["id"], "tasks"), params=behind)).json() == [tasks[2]]


@shows("project-analysis-agreement")
@pytest_twisted.ensureDeferred
async def test_an_analysis_says_how_far_volunteers_agree_and_what_is_right(served, ledger):
    owner, project = await answered(served, ledger)
    first, second, *_ = [row["task_id"] for row in ledger.rows("SELECT task_id FROM task_ledger ORDER BY task_id")]
    ledger.run(
        "INSERT INTO gold_task (project_id, task_id, number, answer, since)"
        ' SELECT project_id, task_id, 1, \'["lynx", "owl"]\', clock() FROM task_ledger WHERE task_id = %(t)s',
        t=second,
    )
    ledger.run(
        "INSERT INTO sampled_result (project_id, task_id, result_id, generation, class, confidence, drawn, number, decided)"
        " SELECT project_id, %(t)s, 1, generation, 1, 0.9, clock(), 1, 2 FROM trust_model",
        t=first,
    )
    begun = (await owner.post(at(project), json={"method": "agreement"})).json()
    assert [row["state"] for row in await finish(served)] == ["done"]
    figures = (await owner.get(at(project, begun["id"], "agreement"))).json()
    # Pairs: fox owl fox, owl owl owl, fox fox fox, owl fox.
    assert (figures["tasks"], figures["answers"], figures["analysis_id"]) == (4, 11, begun["id"])
    measures = {one["name"]: one for one in figures["measures"]}
    alpha = (await owner.get(f"/api/project/{project}/agreement")).json()[0]["alpha"]
    assert measures["alpha_nominal"]["value"] == pytest.approx(alpha, abs=1e-12) == pytest.approx(1 / 3)
    assert set(measures) == {"alpha_nominal", "fleiss_kappa", "gwet_ac1"}
    assert [(one["value"], one["answers"]) for one in figures["classes"]] == [("fox", 6), ("owl", 5)]
    words = {row["word"] for row in ledger.rows("SELECT word FROM volunteer_word")}
    assert {code for pair in figures["pairs"] for code in pair["volunteers"]} == words
    assert sorted((pair["tasks"], pair["same"]) for pair in figures["pairs"]) == [(3, 2), (3, 3), (4, 2)]
    assert figures["difficult"][0]["difficulty"] == 1 and figures["difficult"][1]["task_id"] == first
    sample, gold = figures["checked"]
    assert (sample["by"], sample["accuracy"]["right"], sample["confusion"]) == ("sample", 0, [[0, 0], [1, 0]])
    assert (gold["by"], gold["accuracy"]["right"], gold["accuracy"]["n"]) == ("gold", 3, 3)
    assert gold["accuracy"]["low"] == pytest.approx(0.4385, abs=1e-4), "Wilson"
    assert gold["classes"][1]["precision"]["share"] == 1 and gold["classes"][0]["recall"]["share"] is None
    # The page, the results page, and who sees what.
    assert (await owner.post(at(project, begun["id"], "apply"))).status == 415
    short_name = (await owner.get(f"/api/project/{project}")).json()["short_name"]
    page = f"/project/{short_name}/analyses/{begun['id']}"
    shown = (await owner.page(page)).json()["figures"]
    assert {name: shown[name] for name in ("measures", "pairs", "checked")} == {
        name: figures[name] for name in ("measures", "pairs", "checked")
    }
    visible = (await owner.page(f"/project/{short_name}/results")).json()["agreement_figures"]
    assert visible["measures"] == figures["measures"] and visible["pairs"] == figures["pairs"]
    stranger = (await (await served.person("ada")).page(f"/project/{short_name}/results")).json()["agreement_figures"]
    assert (stranger["measures"], stranger["pairs"], stranger["difficult"]) == (figures["measures"], [], [])
    majority = (await owner.post(at(project), json={"method": "majority"})).json()
    await finish(served)
    assert (await owner.get(at(project, majority["id"], "agreement"))).json() is None
    assert (await owner.delete(at(project, begun["id"]))).status == 204
    assert ledger.rows("SELECT FROM agreement_figures") == []


@pytest.mark.proof
@pytest.mark.skipif(not METHODS["rasa"].installed, reason="needs crowd-kit: pip install 'crowdd[trust]'")
@pytest_twisted.ensureDeferred
async def test_items_that_are_compared_get_strengths_and_of_texts_one_is_chosen(served, ledger):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True, n_answers=3)
    better = {"name": "better", "at": "/better", "type": "label", "choices": ["left", "right"]}
    for task, (left, right) in zip(project["tasks"], ("ab", "bc", "ca"), strict=True):
        assert (await owner.put(f"/api/task/{task}", json={"info": {"left": left, "right": right}})).status == 200
    line = {"name": "line", "at": "/line", "type": "text"}
    info = {"task_presenter": "<p>?</p>", "answers": [better, line]}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    for nth, actor in enumerate(("c:1", "c:2", "c:3")):
        for n, task in enumerate(ledger.ask(project["id"], actor, limit=3).tasks):
            answer = {"better": "right" if n == nth else "left", "line": "zzz" if nth == 2 else f"the old barn {n}"}
            ledger.answer(project["id"], actor, task, answer)
    short_name = project["short_name"]
    page = (await owner.page(f"/project/{short_name}/analyses")).json()
    names = {each["name"] for each in page["methods"]}
    assert "bradley_terry" in names and "rasa" not in names
    begun = (await owner.post(at(project["id"]), json={"method": "bradley_terry"})).json()
    assert [row["state"] for row in await finish(served)] == ["done"]
    items = (await owner.get(at(project["id"], begun["id"], "items"))).json()
    assert [(one["item"], one["chosen"], one["compared"]) for one in items] == [("a", 3, 6), ("b", 3, 6), ("c", 3, 6)]
    shown = (await owner.page(f"/project/{short_name}/analyses/{begun['id']}")).json()
    assert shown["items"] == items and shown["replaces"] is False and shown["analysis"]["converged"] is True
    file = (await owner.get(f"/project/{short_name}/analyses/{begun['id']}/items.csv")).text
    assert file.splitlines()[0] == "item,score,low,high,chosen,compared" and len(file.splitlines()) == 4
    assert (await owner.post(at(project["id"], begun["id"], "apply"))).status == 415
    # The same answers, as texts.
    refused = await owner.post(at(project["id"]), json={"method": "rasa"})
    assert refused.status == 415 and "another type" in refused.json()["exception_msg"]
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info | {"answers": [line]}})).status == 200
    page = (await owner.page(f"/project/{short_name}/analyses")).json()
    assert ([each["name"] for each in page["methods"]], page["suggested"], page["refusal"]) == (["rasa"], "rasa", "")
    begun = (await owner.post(at(project["id"]), json={"method": "rasa"})).json()
    await finish(served)
    tasks = (await owner.get(at(project["id"], begun["id"], "tasks"))).json()
    assert [(one["value"], one["decided"], one["probabilities"]) for one in tasks] == [
        (f"the old barn {n}", True, []) for n in range(3)
    ]
    volunteers = (await owner.get(at(project["id"], begun["id"], "volunteers"))).json()
    assert volunteers[0]["accuracy"] < 0.5 < volunteers[1]["accuracy"]


@pytest_twisted.ensureDeferred
async def test_the_same_answers_give_the_same_analysis_and_another_answer_another_one(served, ledger):
    owner, project = await answered(served, ledger)
    for answers in ("counted", "counted", "all"):
        assert (await owner.post(at(project), json={"method": "one_coin", "answers": answers})).status == 200
        await finish(served)
    third, second, first = (await owner.get(at(project))).json()
    assert first["input_hash"] == second["input_hash"] == third["input_hash"]
    labels = [(await owner.get(at(project, each["id"], "tasks"))).json() for each in (first, second)]
    assert labels[0] == labels[1]
    ledger.run("UPDATE task_run SET counted = false WHERE id = (SELECT min(id) FROM task_run)")
    for answers in ("counted", "all"):
        assert (await owner.post(at(project), json={"method": "one_coin", "answers": answers})).status == 200
        await finish(served)
    every, counted, *_ = (await owner.get(at(project))).json()
    assert (every["n_answers"], counted["n_answers"]) == (11, 10)
    assert every["input_hash"] == first["input_hash"] != counted["input_hash"]


@shows("project-analysis-rights")
@pytest_twisted.ensureDeferred
async def test_only_owners_see_and_start_analyses(served, ledger):
    owner, project = await answered(served, ledger)
    await owner.post(at(project), json={"method": "majority"})
    await finish(served)
    one = (await owner.get(at(project))).json()[0]["id"]
    other = await served.person("other")
    for client, status in ((other, 403), (served.client(), 401)):
        for path in ("", one, f"{one}/tasks", f"{one}/volunteers"):
            assert (await client.get(at(project, *([path] if path else [])))).status == status
        assert (await client.post(at(project), json={"method": "majority"})).status == status
        assert (await client.delete(at(project, one))).status == status
    theirs = await served.project(other, "theirs")
    assert (await other.get(at(theirs["id"], one))).status == 404, "an analysis of another project"
    assert (await other.delete(at(theirs["id"], one))).status == 404
    assert len((await owner.get(at(project))).json()) == 1


@shows("project-analysis-start")
@pytest_twisted.ensureDeferred
async def test_what_cannot_be_analysed_is_refused_with_a_sentence(served, ledger, monkeypatch):
    owner, project = await answered(served, ledger, {"name": "n", "at": "/n", "type": "number"})
    refused = await owner.post(at(project), json={"method": "majority"})
    assert refused.status == 415 and "is of type number" in refused.json()["exception_msg"], refused.json()
    assert (await owner.put(f"/api/project/{project}", json={"info": {"answer_key": "answer"}})).status == 200
    for body in ({"method": "best"}, {}, {"method": "majority", "answers": "some"}, {"method": "majority", "x": 1}, []):
        assert (await owner.post(at(project), json=body)).status in (400, 415), body
    if not METHODS["mace"].installed:
        refused = await owner.post(at(project), json={"method": "mace"})
        assert "not installed" in refused.json()["exception_msg"] and "crowdd[trust]" in refused.json()["hint"]
    monkeypatch.setattr(analyses, "MAX_KEPT", 1)
    assert (await owner.post(at(project), json={"method": "majority"})).status == 200
    busy = await owner.post(at(project), json={"method": "majority"})
    assert busy.status == 415 and "is running" in busy.json()["exception_msg"]
    await finish(served)
    (done,) = (await owner.get(at(project))).json()
    assert done["error"] == "" and done["choices"] == ["fox", "owl", "cat"], (
        "without declared choices they are numbered as they appear"
    )
    full = await owner.post(at(project), json={"method": "majority"})
    assert full.status == 415 and "at most 1" in full.json()["exception_msg"]
    assert (await owner.delete(at(project, done["id"]))).status == 204
    assert (await owner.get(at(project))).json() == []
    assert [ledger.value(f"SELECT count(*) FROM {table}") for table in ("analysis_task", "analysis_volunteer")] == [
        0,
        0,
    ]


@pytest_twisted.ensureDeferred
async def test_a_failed_analysis_says_why_and_stops_nothing(served, ledger, monkeypatch):
    owner, project = await answered(served, ledger, {**FIELD, "choices": ["cat and dog"]})
    await owner.post(at(project), json={"method": "majority"})
    (item,) = await finish(served)
    (failed,) = (await owner.get(at(project))).json()
    assert (item["state"], failed["state"]) == ("dead", "failed") and "No answer has one of the choices" in failed[
        "error"
    ]
    monkeypatch.setattr(analysis_runner, "MAX_SECONDS", -1.0)
    monkeypatch.setattr(isolated, "_LOOK_SECONDS", 0.0)
    await owner.put(f"/api/project/{project}", json={"info": {"answers": FIELD}})
    assert (await owner.post(at(project), json={"method": "one_coin"})).status == 200
    await finish(served)
    late, _failed = (await owner.get(at(project))).json()
    assert "too much memory or time" in late["error"] and not any(
        served.house.base.settings.data.dir.joinpath("analyses").iterdir()
    )


@shows("project-analysis-cancel")
@pytest_twisted.ensureDeferred
async def test_an_analysis_stops_when_it_is_cancelled_or_deleted_and_begins_again_after_a_kill(
    served, ledger, monkeypatch
):
    owner, project = await answered(served, ledger)
    started: list[Any] = []
    real, then = analysis_process.start, []

    def start(*arguments: Any) -> Any:
        started.append(real(*arguments))
        if then:
            then.pop()()
        return started[-1]

    monkeypatch.setattr(analysis_process, "start", start)
    # Cancelled while the process works.
    then.append(lambda: ledger.run("UPDATE queue_item SET cancel = true"))
    await owner.post(at(project), json={"method": "one_coin"})
    await finish(served)
    (one,) = (await owner.get(at(project))).json()
    assert one["state"] == "cancelled" and started[0]._process.poll() is not None
    # Its server is killed: another one starts over, with what the first had stored taken away.
    ledger.run(f"INSERT INTO analysis_task VALUES ({project}, {one['id']}, 1, 1, '{{1,0}}', false)")

    def die() -> None:
        raise StoppedError("ending")

    then.append(die)
    await owner.post(f"/project/birds/queue/{one['queue_item']}/retry", json={})
    await finish(served)
    assert len(started) == 3 and not then
    (one,) = (await owner.get(at(project))).json()
    assert one["state"] == "done" and ledger.value("SELECT count(*) FROM analysis_task") == 4
    # Deleted while the process works: nothing of it is stored.
    then.append(lambda: ledger.run("DELETE FROM analysis WHERE ended IS NULL"))
    await owner.post(at(project), json={"method": "one_coin"})
    *_, last = await finish(served)
    assert last["state"] == "cancelled" and len((await owner.get(at(project))).json()) == 1
    assert ledger.value("SELECT count(*) FROM analysis_task") == 4


@pytest_twisted.ensureDeferred
async def test_analyses_go_with_their_project(served, ledger, monkeypatch):
    monkeypatch.setattr(projects_of_owners, "_BITES_AT_ONCE", 0)
    owner, project = await answered(served, ledger)
    await owner.post(at(project), json={"method": "majority"})
    await finish(served)
    assert (await owner.delete(f"/api/project/{project}")).status == 204
    *_, swept = await finish(served)
    assert swept["state"] == "done"
    for table in ("analysis", "analysis_task", "analysis_volunteer"):
        assert ledger.value(f"SELECT count(*) FROM {table}") == 0, table


@shows("page-analyses")
@pytest_twisted.ensureDeferred
async def test_owners_start_and_read_analyses_on_pages(served, ledger):
    owner, _project = await answered(served, ledger)
    here = "/project/birds/analyses"
    ledger.fold()
    page = (await owner.page(here)).json()
    assert (page["suggested"], page["refusal"], page["items"]) == ("dawid_skene", "", []), (
        "four answers each, two choices"
    )
    assert {each["name"]: each["installed"] for each in page["methods"]}["majority"]
    started = (await owner.post(here, json={"method": "dawid_skene", "answers": "counted"})).json()
    assert started["analysis"]["state"] == "waiting"
    refused = (await owner.post(here, json={"method": "majority"})).json()
    assert refused["status"] == "error" and "is running" in refused["flash"]
    await finish(served)
    one = f"{here}/{started['analysis']['id']}"
    document = (await owner.page(f"{one}?all=1")).json()
    assert document["analysis"]["state"] == "done" and len(document["tasks"]) == 4 and document["next"] is None
    volunteers = (await owner.page(f"{one}/volunteers")).json()["volunteers"]
    assert len(volunteers) == 3
    table = (await owner.get(f"{one}/tasks.csv")).body.decode().splitlines()
    assert table[0] == "task_id,value,model,probability_fox,probability_owl,consensus" and len(table) == 5
    assert table[1].split(",")[:2] == [str(document["tasks"][0]["task_id"]), "fox"]
    table = (await owner.get(f"{one}/volunteers.csv")).body.decode().splitlines()
    assert table[0] == "volunteer,answers,accuracy,skill" and [row.split(",")[0] for row in table[1:]] == [
        each["volunteer"] for each in volunteers
    ]
    other = await served.person("other")
    for path in (here, one, f"{one}/volunteers", f"{one}/tasks.csv", f"{one}/volunteers.csv"):
        assert (await other.get(path)).status == 403
    assert (await other.post(f"{one}/delete", json={})).status == 403
    await owner.post(f"{one}/delete", json={})
    assert (await owner.get(one)).status == 404


@shows("export-analysis")
@pytest_twisted.ensureDeferred
async def test_exports_have_the_labels_of_the_last_analysis_or_of_a_chosen_one(served, ledger):
    owner, project = await answered(served, ledger)

    async def table(client: Any, query: str = "") -> list[dict[str, str]]:
        sent = await client.get(f"/project/birds/tasks/export?type=result&format=csv{query}")
        assert sent.status == 200, sent.text
        return list(csv.DictReader(io.StringIO(sent.body.decode("utf-8-sig"))))

    assert "analysis" not in (await table(owner))[0]
    for method in ("majority", "one_coin"):
        await owner.post(at(project), json={"method": method})
        await finish(served)
    last, first = (row["id"] for row in (await owner.get(at(project))).json())
    for chosen, query in ((last, ""), (first, f"&analysis={first}")):
        tasks = (await owner.get(at(project, chosen, "tasks"))).json()
        rows = await table(owner, query)
        assert [int(row["analysis"]) for row in rows] == [chosen] * 4
        assert [row["analysis_class"] for row in rows] == [task["value"] or "" for task in tasks]
        assert [float(row["analysis_posterior_owl"]) for row in rows] == [
            pytest.approx(task["probabilities"][1], abs=1e-5) for task in tasks
        ]
    stranger = await served.person("stranger")
    assert not [name for name in (await table(stranger))[0] if name.startswith("analysis")]
    address = "/project/birds/tasks/export?type={}&format=csv&analysis={}"
    assert (await stranger.get(address.format("result", first))).status == 415
    assert (await owner.get(address.format("task", first))).status == 415
    assert (await owner.get(address.format("result", last + 1))).status == 404


@shows("project-analysis-apply", "page-review")
@pytest_twisted.ensureDeferred
async def test_labels_of_an_analysis_become_results_where_they_differ(served, ledger, monkeypatch):
    monkeypatch.setattr(changes, "CHUNK", 1)  # in the background, task by task
    owner, project = await answered(served, ledger)
    for method in ("dawid_skene", "one_coin"):
        await owner.post(at(project), json={"method": method})
        await finish(served)
    first, second, third, fourth = ledger.rows("SELECT * FROM result WHERE last_version ORDER BY task_id")
    # Both analyses say owl of three tasks, as the result of the second does, and nothing of the fourth.
    ledger.run(
        "UPDATE analysis_task SET class = 2, posterior = '{0.25,0.75}', different = task_id <> %(t)s",
        t=second["task_id"],
    )
    one, other = (row["id"] for row in (await owner.get(at(project))).json())
    ledger.run("UPDATE analysis_task SET class = NULL WHERE task_id = %(t)s", t=fourth["task_id"])
    review = "/project/birds/review?which=disputed"
    disputed = [row["task_id"] for row in (await owner.page(review)).json()["tasks"]]
    assert disputed == [first["task_id"], third["task_id"]]
    await owner.post(f"/api/result/{third['id']}/decision", json={"answer": "fox"})
    assert [row["task_id"] for row in (await owner.page(review)).json()["tasks"]] == [first["task_id"]]
    asked = (await owner.post(at(project, one, "apply") + "?dry_run=1")).json()
    assert (asked["tasks"], asked["dry_run"], len(ledger.results(first["task_id"]))) == (1, True, 1)
    begun = (await owner.post(at(project, one, "apply"))).json()
    assert begun["tasks"] == 1 and begun["queue_item"]
    assert [row["state"] for row in await finish(served)][-1] == "done"
    old, new = ledger.results(first["task_id"])
    assert (new["consensus"], new["reason"], new["class"], new["posterior"], new["confidence"]) == (
        "owl", "analysis", 2, [0.25, 0.75], 0.75,
    )  # fmt: skip
    assert new["task_run_ids"] == old["task_run_ids"] and new["decided_by"] and old["generation"] is None
    (event,) = ledger.rows("SELECT * FROM event WHERE result_id = %(r)s", r=new["id"])
    assert (event["kind"], event["data"]["label"], event["data"]["reason"]) == ("result_updated", "owl", "analysis")
    rows = ledger.rows("SELECT sign, posterior FROM evidence WHERE task_id = %(t)s", t=first["task_id"])
    taught = [(row["sign"], row["posterior"]) for row in rows]  # in no order
    assert -1 in dict(taught) and (1, [0.25, 0.75]) in taught
    # Nothing is left to do for it. What it said stays when the answers are compared again.
    assert (await owner.post(at(project, other, "apply") + "?dry_run=1")).json()["tasks"] == 0
    ledger.run("SELECT compare_result(%(p)s, %(t)s)", p=project, t=first["task_id"])
    (result,) = ledger.rows("SELECT * FROM result WHERE id = %(r)s", r=new["id"])
    assert [result[name] for name in ("consensus", "reason", "posterior")] == ["owl", "analysis", [0.25, 0.75]]
    assert (
        ledger.rows(
            "SELECT * FROM check_trust(%(p)s, clock()) UNION ALL SELECT * FROM check_weighing(%(p)s, clock())",
            p=project,
        )
        == []
    )
    # Another analysis may change it, and the others, but not one that is older than its answers.
    ledger.run("UPDATE analysis_task SET class = 1, posterior = '{0.9,0.1}' WHERE analysis_id = %(a)s", a=other)
    page = "/project/birds/analyses"
    assert (await owner.post(f"{page}/{other}/apply", json={"btn": "Effect"})).json()["effect"]["tasks"] == 3
    ledger.run("UPDATE analysis SET created = '2020-01-01' WHERE id = %(a)s", a=other)
    assert (await owner.post(f"{page}/{other}/apply", json={})).json()["effect"]["tasks"] == 0
    stranger = await served.person("stranger")
    assert (await stranger.post(at(project, one, "apply"))).status == 403
    await owner.put(f"/api/project/{project}", json={"info": {"answer_key": "answer"}})
    refused = await owner.post(at(project, one, "apply"))
    assert refused.status == 415 and "Only results of a label" in refused.json()["exception_msg"]
