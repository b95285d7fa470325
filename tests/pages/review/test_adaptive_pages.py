"""Adaptive redundancy of a project: settings with their effect, replays, figures; volunteers by doubt; exports."""

from __future__ import annotations

import csv
import io
import json

import pytest
import pytest_twisted
from pages.review.test_review_pages import HTML, Project, rows
from support.checks.shows import shows

from crowdd.features.statistics import statements as statistics_statements


async def project(served, answers=12):
    """Tasks on which two of three volunteers agree; the third says fox each time."""
    task_answers = [["owl", "owl", "fox"] if nth % 3 else ["fox", "fox", "fox"] for nth in range(answers)]
    return await Project(served).build(task_answers)


async def fold(served):
    await statistics_statements.fold_counters(served.database)


@shows("page-adaptive")
@pytest_twisted.ensureDeferred
async def test_settings_show_their_effect_replay_and_save(served):
    made = await project(served)
    at = f"{made.at}/adaptive"
    page = (await made.owner.page(at)).json()
    assert page["figures"]["min_answers"] is None and page["form"]["on"] is False and page["effect"] is None
    assert "Nobody has checked." in (await made.owner.get(at, headers=HTML)).text
    form = {"on": "y", "min_answers": "2", "confidence": "80", "max_answers": "5"}
    for name, value in (
        ("min_answers", "0"),
        ("confidence", "49"),
        ("confidence", "x"),
        ("max_answers", "51"),
        ("max_answers", "1"),
    ):
        wrong = (await made.owner.send_form(at, form | {name: value})).json()
        assert list(wrong["form"]["errors"]) == [name], (name, value)
    replayed = (await made.owner.send_form(at, form | {"btn": "Replay"})).json()["replays"]
    assert [one["confidence"] for one in replayed] == [0.8, 0.9, 0.95, 0.98]
    assert [one["chosen"] for one in replayed] == [True, False, False, False]
    assert {(one["tasks"], one["given"]) for one in replayed} == {(12, 36)}
    assert all(24 <= one["asked"] <= 36 for one in replayed) and replayed[0]["asked"] <= replayed[3]["asked"]
    effect = (await made.owner.send_form(at, form | {"btn": "Effect"})).json()["effect"]
    assert effect["replayed"] == 12 and effect["early"] == replayed[0]["early"] and effect["reopened"] == 0
    assert (await made.owner.page(at)).json()["figures"]["min_answers"] is None
    assert (await made.owner.send_form(at, form)).json()["status"] == "success"
    info = (await made.program.get(f"/api/project/{made.id}")).json()["info"]
    assert info["trust"] == {"min_answers": 2, "confidence": 0.8}
    saved = (await made.owner.page(at)).json()
    assert (saved["form"]["on"], saved["form"]["confidence"], saved["form"]["max_answers"]) == (True, "80", 5)
    assert "From 2 answers on, when the result is 80" in (
        await made.owner.get(f"{made.at}/settings", headers=HTML)
    ).text.replace("\xa0", " ")
    assert (await made.owner.send_form(at, form | {"on": ""})).json()["status"] == "success"
    assert (await made.program.get(f"/api/project/{made.id}")).json()["info"].get("trust") is None


@pytest_twisted.ensureDeferred
async def test_calibration_compares_with_decisions_of_experts(served):
    made = await project(served, 6)
    first, second = made.tasks[:2]
    assert (await made.decide(made.owner, first, 1))["state"] == "decided"
    assert (await made.decide(made.owner, second, 1))["state"] == "decided"
    checked = (await made.owner.page(f"{made.at}/adaptive")).json()["checked"]
    assert (checked["experts"]["tasks"], checked["experts"]["right"], checked["gold"]["tasks"]) == (2, 1, 0)
    stored = await rows(
        served,
        "SELECT b.confidence FROM result b JOIN result d USING (task_id) WHERE d.reason = 'expert' AND b.version = 1 ORDER BY 1",
    )
    claimed = sum(step["claimed"] * step["tasks"] for step in checked["experts"]["steps"])
    assert claimed == pytest.approx(sum(row["confidence"] for row in stored), abs=1e-4)
    text = (await made.owner.get(f"{made.at}/adaptive", headers=HTML)).text
    assert "Decisions of experts: confidence and share that was right" in text and "Nobody has checked." not in text


@shows("page-volunteers-known")
@pytest_twisted.ensureDeferred
async def test_volunteers_are_sorted_by_doubt_and_lifted(served):
    made = await project(served)
    await fold(served)
    at = f"{made.at}/volunteers"
    page = (await made.owner.page(f"{at}?orderby=doubt")).json()
    assert len(page["volunteers"]) == len(page["known"]) == 3
    accuracy = [one["accuracy"] for one in page["known"]]
    assert accuracy == sorted(accuracy)
    stored = await rows(served, "SELECT w.word, r.* FROM reliability r JOIN volunteer_word w USING (project_id, actor)")
    by_word = {row["word"]: row for row in stored}
    for one, known in zip(page["volunteers"], page["known"], strict=True):
        row = by_word[one["volunteer"]]
        assert known["agreement"] == pytest.approx(row["peer_right"] / row["peer_seen"]) and known["gold_seen"] is None
        assert known["seconds"] >= 0 and known["last_active"] and known["counts"]
    assert page["volunteers"][0]["user_name"] == "person2", "who says fox each time"
    pages = [await made.owner.page(f"{at}?orderby=doubt&per_page=25&after={page['volunteers'][0]['volunteer']}")]
    assert [one["volunteer"] for one in pages[0].json()["volunteers"]] == [
        one["volunteer"] for one in page["volunteers"][1:]
    ]
    word = page["volunteers"][0]["volunteer"]
    sql = "UPDATE reliability r SET counts = false FROM volunteer_word w WHERE w.word = %(w)s AND w.actor = r.actor"
    await served.database.execute(sql, {"w": word})
    assert "Not counted" in (await made.owner.get(f"{at}/{word}", headers=HTML)).text
    assert (await made.owner.send_form(f"{at}/{word}/lift", {}, f"{at}")).json()["status"] == "success"
    assert (await made.owner.page(f"{at}/{word}")).json()["known"]["lifted"]


@shows("export-trust")
@pytest_twisted.ensureDeferred
async def test_exports_say_how_sure_results_are_and_only_owners_what_answers_weigh(served):
    made = await project(served, 3)
    assert (await made.decide(made.owner, made.tasks[1], 1))["state"] == "decided"

    async def table(client, kind):
        text = (await client.get(f"{made.at}/tasks/export?type={kind}&format=csv")).body.decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text)))

    results = await table(made.program, "result")
    (decided,) = [row for row in results if row["reason"] == "expert"]
    assert decided["n_counted"] == "3" and json.loads(decided["votes"]) == {"owl": 2, "fox": 1}
    assert (decided["posterior_fox"], decided["posterior_owl"], decided["posterior_null"]) == (
        "1.000000",
        "0.000000",
        "0.000000",
    )
    assert decided["decided_by"] == "owner" and decided["decided_at"] and decided["consensus_kind"] == "fox"
    others = [row for row in results if row["reason"] == "full"]
    assert len(others) == 3 and all(row["decided_by"] == "" for row in others)
    runs = await table(made.program, "task_run")
    assert {row["class"] for row in runs} == {"fox", "owl"} and {row["counted"] for row in runs} == {"true"}
    assert all(float(row["weight"]) > 0 for row in runs)
    stranger = await served.person("ada")
    assert not {"decided_by", "decided_at", "weight"} & set((await table(stranger, "result"))[0])
    assert not {"weight", "accuracy"} & set((await table(stranger, "task_run"))[0])


@pytest_twisted.ensureDeferred
async def test_tasks_that_would_not_be_sure_any_more_are_listed_and_opened_again(served):
    made = await project(served, 6)
    at = f"{made.at}/adaptive"
    form = {"on": "y", "min_answers": "3", "confidence": "60", "max_answers": "6", "completed": "y"}
    assert (await made.owner.send_form(at, form)).json()["status"] == "success"
    assert await made.queue(made.owner, "?which=doubted") == []
    await served.database.execute("UPDATE result SET reason = 'sure' WHERE last_version")
    await served.database.execute("UPDATE task_ledger SET max_answers = 6")
    await served.database.execute("UPDATE trust_model SET confidence = 0.999")
    doubted = await made.queue(made.owner, "?which=doubted")
    assert sorted(doubted) == sorted(made.tasks)
    done = (await made.owner.send_form(f"{at}/again", {}, at)).json()
    assert (done["status"], done["reopened"]) == ("success", 6)
    assert await made.queue(made.owner, "?which=doubted") == []
