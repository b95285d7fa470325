"""A random sample of results: drawn by class, decided without the results, and what it says of all of them."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from typing import Any

import openpyxl
import pytest
import pytest_twisted
from pages.review.test_review_pages import HTML, Project, rows
from pages.snapshots.test_recompute import only_numpy, recompute
from pages.snapshots.test_snapshots import archive, snapshot
from pyarrow import parquet
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.database.access import as_json
from crowdd.features.trust.feature import TrustFeature
from crowdd.features.trust.recalibration import measured
from crowdd.features.trust.sampling import figures_of, share_of

__all__ = ["only_numpy"]


async def page(made: Project, browser: Any = None) -> Any:
    return (await (browser or made.owner).page(f"{made.at}/sample")).json()


async def judge(made: Project, browser: Any, class_: int) -> Any:
    """Decides the next task of the sample."""
    task = (await page(made, browser))["task"]["id"]
    return (await browser.send_form(f"{made.at}/sample/{task}", {"class": str(class_)}, f"{made.at}/sample")).json()


@shows("page-sample")
@pytest_twisted.ensureDeferred
async def test_experts_decide_drawn_results_without_seeing_them(served, only_numpy, tmp_path):
    made = await Project(served).build([["fox", "fox", "fox"]] * 8 + [["owl", "owl", "owl"]] * 4 + [["cat", 7, {}]])
    at, reviewer = f"{made.at}/sample", await made.reviewer("rae")
    before = await page(made)
    assert (before["sample"]["drawn"], before["task"], before["rest"]) == (0, None, 12)
    for n in ("0", "x", "2001"):
        assert (await made.owner.send_form(at, {"n": n})).json()["status"] == "error", n
    assert (await reviewer.send_form(at, {"n": "6"})).status == 403, "only owners draw"
    assert (await made.owner.send_form(at, {"n": "6"})).json()["status"] == "success"
    drawn = await rows(served, "SELECT class, task_id FROM sampled_result")
    assert Counter(row["class"] for row in drawn) == {1: 4, 2: 2}, "of each class as many as it has"
    # Nothing on the page tells what the result or an answer says.
    shown = await page(made, reviewer)
    assert not {"result", "answers"} & set(shown) and "posterior" not in str(shown)
    text = (await reviewer.get(at, headers=HTML)).text
    assert "aria-keyshortcuts" in text and "btn wraps answer main" not in text
    # They say fox of all but two foxes, of which they cannot tell and owl.
    said: dict[int, int] = {}
    for _ in drawn:
        task = (await page(made, reviewer))["task"]["id"]
        (result,) = [row["class"] for row in drawn if row["task_id"] == task]
        wrong = sum(1 for each in said.values() if each == 3) == 0 and result == 1
        said[task] = 3 if wrong else result
        assert (await judge(made, reviewer, said[task]))["status"] == "success"
    sample = (await page(made))["sample"]
    assert sample["agree"] == pytest.approx({"right": 5, "n": 6, "share": 5 / 6, "low": 0.436497, "high": 0.969946})
    assert sample["confusion"] == [[3, 0, 0], [0, 2, 0], [1, 0, 0]]
    assert [(one["precision"]["right"], one["precision"]["n"], one["recall"]["n"]) for one in sample["classes"]] == [
        (3, 4, 3), (2, 2, 2), (0, 0, 1),
    ]  # fmt: skip
    text = (await made.owner.get(at, headers=HTML)).text
    assert "The results agree with experts in 83.3 % (43.6 to 97.0), n = 6." in text
    # The tasks are decided by it.
    decided = await rows(
        served, "SELECT task_id, class::int AS class FROM result WHERE last_version AND reason = 'expert'"
    )
    assert {row["task_id"]: row["class"] for row in decided} == said
    # More are drawn beside, never one twice.
    assert (await made.owner.send_form(at, {"n": "100"})).json()["status"] == "success"
    after = await page(made)
    assert (after["sample"]["drawn"], after["rest"], after["sample"]["agree"]["n"]) == (12, 0, 6)
    # Whoever has the snapshot works it out again.
    project = {"id": made.id, "short_name": made.at.rpartition("/")[2]}
    files = await archive(made.owner, project, (await snapshot(served, made.program, project))["hash"])
    done = recompute(only_numpy, files, tmp_path / "sample")
    assert done.returncode == 0 and "n = 6." in done.stdout and "0.8333333333 (0.4365 to 0.9699)" in done.stdout, (
        done.stdout + done.stderr
    )
    changed = files | {"results.ndjson": files["results.ndjson"].replace(b'"sample":3', b'"sample":1')}
    assert recompute(only_numpy, changed, tmp_path / "changed").returncode == 1


@shows("page-sample")
@pytest_twisted.ensureDeferred
async def test_two_experts_at_once_decide_a_task_of_the_sample_once(served):
    made = await Project(served).build([["fox", "fox", "fox"]] * 3)
    at = f"{made.at}/sample"
    assert (await made.owner.send_form(at, {"n": "3"})).json()["status"] == "success"
    reviewer = await made.reviewer("rae")
    task = (await page(made))["task"]["id"]
    sent = await gatherResults(
        [
            ensureDeferred(browser.send_form(f"{at}/{task}", {"class": class_}, at))
            for browser, class_ in ((made.owner, "1"), (reviewer, "2"))
        ]
    )
    assert sorted(each.json()["status"] for each in sent) == ["success", "warning"]
    (row,) = await rows(served, "SELECT decided, decided_by FROM sampled_result WHERE decided IS NOT NULL")
    (result,) = await rows(served, "SELECT class, decided_by FROM result WHERE last_version AND reason = 'expert'")
    assert (row["decided"], row["decided_by"]) == (result["class"], result["decided_by"])
    other = next(each for each in made.tasks if each != task)
    for number, class_ in ((other, "4"), (other, "0")):
        assert (await made.owner.send_form(f"{at}/{number}", {"class": class_}, at)).status == 415
    assert (await made.owner.send_form(f"{at}/9999999", {"class": "1"}, at)).json()["status"] == "warning"
    for who in (served.client(), made.people[0]):
        assert (await who.get(f"{at}?response_format=json")).status in (302, 401, 403, 404)


@pytest_twisted.ensureDeferred
async def test_what_an_expert_had_decided_before_is_judged_by_the_version_before(served):
    """Otherwise a sample of the rest would leave out the doubtful results, which experts decide first."""
    made = await Project(served).build([["fox", "fox", "fox"], ["fox", "owl", "fox"]])
    assert (await made.decide(made.owner, made.tasks[1], 2))["state"] == "decided"
    assert (await made.owner.send_form(f"{made.at}/sample", {"n": "2"})).json()["status"] == "success"
    for _ in made.tasks:
        task = (await page(made))["task"]["id"]
        assert (await judge(made, made.owner, 1 if task == made.tasks[0] else 2))["status"] == "success"
    sample = (await page(made))["sample"]
    assert (sample["agree"]["right"], sample["agree"]["n"]) == (1, 2)


@pytest_twisted.ensureDeferred
async def test_another_declaration_ends_a_sample(served):
    made = await Project(served).build([["fox", "fox", "fox"]] * 2)
    assert (await made.owner.send_form(f"{made.at}/sample", {"n": "2"})).json()["status"] == "success"
    info = (await made.program.get(f"/api/project/{made.id}")).json()["info"]
    answers = [{"name": "kind", "at": "/answer", "type": "label", "choices": ["owl", "fox"]}]
    assert (await made.program.put(f"/api/project/{made.id}", json={"info": info | {"answers": answers}})).status == 200
    shown = await page(made)
    assert (shown["sample"]["drawn"], shown["task"]) == (0, None)


def test_intervals_are_those_of_wilson():
    share = share_of(189, 200)
    assert (round(share["low"] or 0, 3), round(share["high"] or 0, 3)) == (0.904, 0.969)
    assert share_of(0, 0)["share"] is None
    assert share_of(10, 10)["high"] == pytest.approx(1)
    assert figures_of([], 2)["agree"]["n"] == 0


async def decided(served: Any, made: Project, n: int, right: int) -> None:
    """A sample of which experts have decided ``n`` results, of all of which the model said 97 %."""
    await served.database.execute(
        "INSERT INTO sampled_result (project_id, task_id, result_id, generation, class, confidence, drawn, number, decided, decided_at)"
        " SELECT t.project_id, t.id, 1, q.generation, 1, 0.97, clock(), n, CASE WHEN n <= %(right)s THEN 1 ELSE 2 END, clock()"
        " FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM task WHERE project_id = %(p)s) t"
        " JOIN trust_model q USING (project_id) WHERE n <= %(n)s ON CONFLICT (project_id, task_id) DO NOTHING",
        {"p": made.id, "n": n, "right": right},
    )


@shows("page-sample", "export-trust")
@pytest_twisted.ensureDeferred
async def test_from_fifty_decisions_on_confidence_is_measured_and_decides_when_tasks_stop(served, only_numpy, tmp_path):
    made = await Project(served).build([[]] * 60, n_answers=4)
    info = (await made.program.get(f"/api/project/{made.id}")).json()["info"]
    trust = {"trust": {"min_answers": 2, "confidence": 0.75}}
    assert (await made.program.put(f"/api/project/{made.id}", json={"info": info | trust})).status == 200
    sampling = served.house[TrustFeature].sampling
    await served.run_job("compare_results")  # or it weighs results again meanwhile

    async def answered(task: int) -> dict[str, Any]:
        """The task after two people have said the same."""
        for client in made.people[:2]:
            assert (await client.post(f"/api/task/{task}/lease", json={})).status == 200
            body = {"project_id": made.id, "task_id": task, "info": {"answer": "fox"}}
            assert (await client.post("/api/taskrun", json=body)).status == 200
        answer = await made.program.get(f"/api/task/{task}")
        return dict(answer.json())

    await decided(served, made, 49, 10)
    assert await sampling.recalibrate_due() == 0
    assert (await answered(made.tasks[50]))["state"] == "completed"
    before = await made.result(made.tasks[50])
    assert (before["reason"], before["confidence"], before["model"] > 0.75) == ("sure", None, True)
    follow = f"/api/project/{made.id}/export?type=result&since="
    cursor = json.loads((await made.program.get(follow)).text.splitlines()[-1])["cursor"]
    await decided(served, made, 50, 10)
    assert [await sampling.recalibrate_due() for _ in range(2)] == [1, 0], "once for each number of decisions"
    assert (await answered(made.tasks[51]))["state"] == "ongoing", "of those of which the model says so, few are right"
    (row,) = await rows(served, "SELECT recalibration FROM trust_model")
    curve = row["recalibration"]
    assert (curve["n"], curve["right"]) == (50, 10) and curve["method"] in ("platt", "isotonic")
    assert measured(curve, 0.97) == pytest.approx(0.2, abs=0.05)
    for value in (0, 0.3, 0.5, 0.97, 0.98765, 0.999999, 1):
        (sql,) = await rows(served, "SELECT measured_confidence(%(c)s, %(v)s) AS m", c=as_json(curve), v=value)
        assert sql["m"] == pytest.approx(measured(curve, value), abs=1e-12)
    # It is printed wherever the value of the model is, beside it.
    after = await made.result(made.tasks[50])
    model, right = after["model"], measured(curve, after["model"])
    assert (before["model"], 0 < right < 0.5) == (model, True)
    printed = [after, after["consensus"]["kind"]]
    for kind in ("result", "consensus"):
        at = f"/api/project/{made.id}/export?type={kind}&format="
        files = {name: (await made.program.get(f"{at}{name}")).body for name in ("csv", "json", "parquet", "xlsx")}
        printed += csv.DictReader(io.StringIO(files["csv"].decode("utf-8-sig")))
        printed += json.loads(files["json"]) + parquet.read_table(io.BytesIO(files["parquet"])).to_pylist()
        head, *cells = openpyxl.load_workbook(io.BytesIO(files["xlsx"])).worksheets[0].iter_rows(values_only=True)
        printed += [dict(zip(head, row, strict=True)) for row in cells]
    printed += (await made.owner.page(f"{made.at}/results")).json()["rows"]
    printed += (await made.owner.page(f"{made.at}/tasks/{made.tasks[50]}")).json()["fields"]
    printed += (await made.owner.page(f"{made.at}/review?which=sure")).json()["tasks"]
    for one in printed:
        assert (float(one["model"]), float(one["confidence"])) == pytest.approx((model, right), abs=1e-5), one
    for page_ in ("results", f"tasks/{made.tasks[50]}", "review?which=sure"):
        text = (await made.owner.get(f"{made.at}/{page_}", headers=HTML)).text
        assert f"Confidence: {100 * right:.0f}" in text, page_
    # Whoever follows changes is told, and an earlier state has what was measured then.
    lines = (await made.program.get(f"{follow}{cursor}")).text.splitlines()
    assert [one.get("confidence") for one in map(json.loads, lines)] == [after["confidence"], None]
    project = {"id": made.id, "short_name": made.at.rpartition("/")[2]}
    files = await archive(made.owner, project, (await snapshot(served, made.program, project))["hash"])
    (line,) = (one for one in map(json.loads, files["results.ndjson"].splitlines()) if one["model"])
    assert line["confidence"] == pytest.approx(measured(curve, max(line["model"]["posterior"])), abs=1e-12)
    done = recompute(only_numpy, files, tmp_path / "measured")
    assert done.returncode == 0, done.stdout + done.stderr
    other = files["results.ndjson"].replace(b'"confidence":0.', b'"confidence":0.9', 1)
    assert recompute(only_numpy, files | {"results.ndjson": other}, tmp_path / "other").returncode == 1
    text = (await made.owner.get(f"{made.at}/sample", headers=HTML)).text
    assert "Confidence is measured: by 50 decided results" in text
    assert "says at least 95 %, 20.0 % are right (11.2 to 33.0, n = 50)." in text
    shown = await page(made)
    assert shown["recalibration"]["n"] == shown["sample"]["sure"]["n"] == 50
    replay = (
        await made.owner.send_form(
            f"{made.at}/adaptive",
            {"on": "y", "min_answers": "2", "confidence": "75", "max_answers": "4", "btn": "Replay"},
        )
    ).json()["replays"]
    assert {one["early"] for one in replay} == {0}
