"""Adaptive redundancy of a project: settings with their effect, replays, figures; volunteers by doubt; exports."""

from __future__ import annotations

import csv
import importlib
import io
import json

import pytest
import pytest_twisted
from pages.review.test_review_pages import HTML, Project, rows
from support.checks.shows import shows

from crowdd.features.trust import review_statements
from crowdd.features.trust.adaptive_pages import headline
from crowdd.features.trust.weighing import calibration
from crowdd.sched import statements as sched_statements


async def project(served, answers=12):
    """Tasks on which two of three volunteers agree; the third says fox each time."""
    task_answers = [["owl", "owl", "fox"] if nth % 3 else ["fox", "fox", "fox"] for nth in range(answers)]
    return await Project(served).build(task_answers)


async def fold(served):
    await sched_statements.fold_counters(served.database)


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
    same = replayed[0]["same_share"]
    assert (same["right"], same["n"], same["high"]) == (12, 12, 1) and same["low"] == pytest.approx(0.757, abs=0.001)
    assert replayed[0]["right_share"] == {"right": 0, "n": 0, "share": None, "low": None, "high": None}
    effect = (await made.owner.send_form(at, form | {"btn": "Effect"})).json()["effect"]
    assert effect["replayed"] == 12 and effect["early"] == replayed[0]["early"] and effect["reopened"] == 0
    assert (await made.owner.page(at)).json()["figures"]["min_answers"] is None
    assert (await made.owner.send_form(at, form)).json()["status"] == "success"
    info = (await made.program.get(f"/api/project/{made.id}")).json()["info"]
    assert info["trust"] == {"min_answers": 2, "confidence": 0.8}
    saved = (await made.owner.page(at)).json()
    assert (saved["form"]["on"], saved["form"]["confidence"], saved["form"]["max_answers"]) == (True, "80", 5)
    assert "From 2 answers on, when the model says 80" in (
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
    assert (checked["experts"]["tasks"], checked["experts"]["right"]) == (2, 1)
    assert checked["gold"]["tasks"] == 0, "there are no gold tasks"
    stored = await rows(
        served,
        "SELECT b.confidence FROM result b JOIN result d USING (task_id) WHERE d.reason = 'expert' AND b.version = 1 ORDER BY 1",
    )
    claimed = sum(step["claimed"] * step["tasks"] for step in checked["experts"]["steps"])
    assert claimed == pytest.approx(sum(row["confidence"] for row in stored), abs=1e-4)
    text = (await made.owner.get(f"{made.at}/adaptive", headers=HTML)).text
    assert (
        "Decisions of experts: what the model says and share that was right" in text
        and "Nobody has checked." not in text
    )


async def checked_gold(served, made, right):
    """Makes tasks gold (``right``: their right answers), has all three people answer them, and what calibration says."""
    for task, answers in right.items():
        body = {"task_id": task, "answers": answers}
        assert (await made.program.post(f"/api/project/{made.id}/gold", json=body)).status == 200
        for client, value in zip(made.people, ("owl", "owl", "fox"), strict=True):
            assert (await client.post(f"/api/task/{task}/lease", json={})).status == 200
            run = {"project_id": made.id, "task_id": task, "info": {"answer": value}}
            assert (await client.post("/api/taskrun", json=run)).status == 200
    await fold(served)
    return (await made.owner.page(f"{made.at}/adaptive")).json()["checked"]["gold"]


@pytest_twisted.ensureDeferred
async def test_pages_show_votes_and_what_the_model_says_and_a_tie_as_one(served):
    made = await Project(served).build([["owl", "owl"]] * 7 + [["owl", "fox"]], n_answers=2)
    tied = made.tasks[-1]
    await fold(served)
    await served.database.fetch("SELECT compare_result(%(p)s, %(t)s)", {"p": made.id, "t": tied})
    result = await made.result(tied)
    assert result["consensus"]["kind"]["value"] == "fox", "its volunteer had always said owl before"
    texts = {
        "results": (await made.owner.get(f"{made.at}/results", headers=HTML)).text,
        "task": (await made.owner.get(f"{made.at}/tasks/{tied}", headers=HTML)).text,
        "review": (await made.owner.get(f"{made.at}/review", headers=HTML)).text,
    }
    assert "Model: " in texts["results"] and "What the model says of each choice" in texts["task"]
    assert ">Model<" in texts["review"]
    for name, text in texts.items():
        assert "Confidence" not in text and "robability" not in text, name
    words = "Votes 1:1, decided by prior and reliability"
    assert texts["results"].count(words) == texts["task"].count(words) == 1
    other = (await made.owner.get(f"{made.at}/tasks/{made.tasks[0]}", headers=HTML)).text
    assert words not in other and "decided by prior" not in other
    adaptive = (await made.owner.get(f"{made.at}/adaptive", headers=HTML)).text
    assert "Fewer answers than the maximum" in adaptive and "Answers saved" not in adaptive
    assert "So far 0 have told." in adaptive


def test_the_headline_has_its_number_and_its_interval():
    right = calibration([(0.97, nth > 5) for nth in range(60)] + [(0.7, True)] * 5)
    nobody = calibration([])
    shown = headline({"gold": right, "experts": nobody})
    assert (shown["tasks"], shown["share"], shown["claimed"]) == (60, 0.9, 0.95)
    assert 0.79 < shown["low"] < 0.9 < shown["high"] < 0.96
    assert headline({"gold": calibration([(0.97, True)] * 49), "experts": right}) is None, "too few gold tasks"


@pytest_twisted.ensureDeferred
async def test_calibration_compares_with_gold_tasks(served):
    made = await Project(served).build([["owl", "owl", "fox"]] * 5 + [[]] * 4)
    right, also_right, wrong, no_choice = made.tasks[5:]
    answers = {right: ["owl"], also_right: ["fox", "owl"], wrong: ["fox"], no_choice: ["a badger"]}
    gold = await checked_gold(served, made, answers)
    assert (gold["tasks"], gold["right"]) == (3, 2), "a task whose right answer is no choice tells nothing"
    assert all(step["low"] < step["share"] < step["high"] or step["share"] in (0, 1) for step in gold["steps"])
    claimed = sum(step["claimed"] * step["tasks"] for step in gold["steps"]) / 3
    assert 0.5 < claimed < 1
    text = (await made.owner.get(f"{made.at}/adaptive", headers=HTML)).text
    assert "Gold tasks: what the model says and share that was right" in text and "Nobody has checked." not in text
    # Two answers that agree are enough: the third is not weighed, as it would not be collected.
    form = {"on": "y", "min_answers": "2", "confidence": "60", "max_answers": "5"}
    assert (await made.owner.send_form(f"{made.at}/adaptive", form)).json()["status"] == "success"
    early = (await made.owner.page(f"{made.at}/adaptive")).json()["checked"]["gold"]
    assert early["tasks"] == 3
    assert sum(step["claimed"] * step["tasks"] for step in early["steps"]) / 3 != pytest.approx(claimed, abs=1e-6)


@pytest_twisted.ensureDeferred
async def test_what_a_gold_task_claims_does_not_follow_from_its_right_answer(served):
    made = await Project(served).build([["owl", "owl", "fox"]] * 5 + [[]] * 3)
    judged, *others = made.tasks[5:]
    claimed = []
    before = await checked_gold(served, made, {judged: ["owl"], **{task: ["owl"] for task in others}})
    assert (before["tasks"], before["right"]) == (3, 3)

    async def claims():
        runs = await review_statements.list_gold_runs(served.database, made.id, 11)
        return [(one["says"], one["known"]) for one in runs if one["task_id"] == judged]

    claimed.append(await claims())
    path = f"/api/project/{made.id}/gold"
    assert (await made.program.put(path, json={"task_id": judged, "answers": ["fox"]})).status == 200
    claimed.append(await claims())  # before it is folded
    await fold(served)
    claimed.append(await claims())
    after = (await made.owner.page(f"{made.at}/adaptive")).json()["checked"]["gold"]
    assert (after["tasks"], after["right"]) == (3, 2)
    assert len(claimed[0]) == 3
    assert claimed[0] == claimed[2], "the reliability that judges an answer was learned from others"
    stored = await rows(served, "SELECT log_likelihoods FROM reliability ORDER BY actor")
    assert all(row["log_likelihoods"] != says for row in stored for says, _known in claimed[2]), "it is another one"


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
        assert known["agreement_seen"] == row["peer_seen"] > 0
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
        "1",
        "0",
        "0",
    )
    assert decided["decided_by"] == "owner" and decided["decided_at"] and decided["consensus_kind"] == "fox"
    others = [row for row in results if row["reason"] == "full"]
    assert len(others) == 3 and all(row["decided_by"] == "" for row in others)
    runs = await table(made.program, "task_run")
    assert {row["class"] for row in runs} == {"fox", "owl"} and {row["counted"] for row in runs} == {"true"}
    assert {(row["fits"], row["not_counted"]) for row in runs} == {("true", "")}
    assert all(float(row["weight"]) > 0 for row in runs)
    # What the model says is called so: nobody has measured it.
    assert {row["confidence"] for row in results} == {""} and "consensus_kind_confidence" not in results[0]
    latest = [row for row in others if row["last_version"] == "true"]
    assert latest and all(float(row["model"]) == float(row["consensus_kind_model"]) for row in latest)
    consensus = await table(made.program, "consensus")
    assert {row["confidence"] for row in consensus} == {""}
    assert sorted(row["model"] for row in consensus if row["reason"] == "full") == sorted(
        row["model"] for row in latest
    )
    for kind in ("task_run", "result", "consensus"):
        columns = json.loads((await made.program.get(f"{made.at}/tasks/export?type={kind}&format=dictionary")).body)
        ours = [column for column in columns["columns"] if not column["name"].startswith("info_")]
        assert [column["name"] for column in ours if not column["description"]] == [], kind
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


@shows("export-trust")
@pytest_twisted.ensureDeferred
async def test_cannot_tell_and_no_answer_differ_in_every_format(served):
    made = await Project(served).build([["owl", None, {}], ["cat", "", "fox"]])
    at = f"{made.at}/tasks/export?type=task_run"
    text = (await made.program.get(f"{at}&format=csv&raw=1")).body.decode("utf-8-sig")
    columns = ("class", "fits", "info_answer_state")
    table = [tuple(row[name] for name in columns) for row in csv.DictReader(io.StringIO(text))]
    assert table == [
        ("owl", "true", "answered"), ("", "true", "unsure"), ("", "false", "answered"),
        ("", "false", "answered"), ("", "false", "answered"), ("fox", "true", "answered"),
    ]  # fmt: skip
    assert text.count(',"",') == 1, "an empty text is not the same as none"
    lines = (await made.program.get(f"{at}&format=ndjson&info=columns")).body.decode().splitlines()
    assert [(row["class"], row["fits"]) for row in map(json.loads, lines)] == [
        ("owl", True), (None, True), (None, False), (None, False), (None, False), ("fox", True),
    ]  # fmt: skip
    pyarrow_parquet = importlib.import_module("pyarrow.parquet")
    whole = (await made.program.get(f"{at}&format=parquet")).body
    read = pyarrow_parquet.read_table(io.BytesIO(whole)).to_pydict()
    assert read["fits"] == [True, True, False, False, False, True]


@shows("export-trust")
@pytest_twisted.ensureDeferred
async def test_files_have_all_digits_of_posteriors_and_say_why_answers_do_not_count(served):
    made = await project(served, 3)
    await served.database.execute("UPDATE result SET posterior = '{1,1.5e-12,3e-7}' WHERE last_version")
    await served.database.execute(
        "UPDATE task_run SET counted = false, aside = CASE WHEN task_id = %(a)s THEN 0 WHEN task_id = %(b)s THEN 7 END"
        " WHERE id IN (SELECT max(id) FROM task_run GROUP BY task_id)",
        {"a": made.tasks[0], "b": made.tasks[1]},
    )
    for format_ in ("csv", "ndjson"):
        text = (
            await made.program.get(f"{made.at}/tasks/export?type=result&format={format_}&info=columns")
        ).body.decode("utf-8-sig")
        rows_ = (
            [*csv.DictReader(io.StringIO(text))]
            if format_ == "csv"
            else [json.loads(each) for each in text.splitlines()]
        )
        assert {float(row["posterior_owl"]) for row in rows_} == {1.5e-12}
    text = (await made.program.get(f"{made.at}/tasks/export?type=task_run&format=csv")).body.decode("utf-8-sig")
    why = [row["not_counted"] for row in csv.DictReader(io.StringIO(text))]
    assert why == ["", "", "repeated", "", "", "set_aside", "", "", "late"]
