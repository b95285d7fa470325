"""From a snapshot alone, every posterior and the figures of the project are worked out again, with numpy and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest
import pytest_twisted
from pages.imports.test_import_exports import FISH, answered, export
from pages.review.test_review_pages import LABEL, Project
from pages.snapshots.test_snapshots import archive, rows, snapshot
from support.importing import brought

from crowdd.sched import statements as sched_statements


@pytest.fixture(scope="module")
def only_numpy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python in an empty virtual environment with numpy."""
    folder = tmp_path_factory.mktemp("only-numpy")
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    installed = Path(numpy.__file__).parent
    for package in (installed, installed.parent / "numpy.libs"):
        if package.exists():
            (packages / package.name).symlink_to(package)
    return folder / "bin" / "python"


def recompute(
    python: Path, files: dict[str, bytes], folder: Path, program: str = "recompute.py"
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    command = [python, "-I", folder / program, folder]
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]}, check=False)


async def judged(served: Any) -> Project:
    """A project that learned between its tasks, in which some volunteers are better than others."""
    answers = [
        ["owl", "owl", "fox"],
        ["fox", "fox", "fox"],
        ["owl", None, "fox"],
        [None, None, None],
        ["cat", 7, {}],
        ["fox", "owl", "owl"],
    ]
    made = await Project(served).build(answers * 3)
    await sched_statements.fold_counters(served.database)
    for task in made.tasks[12:]:
        await served.database.fetch("SELECT compare_result(%(p)s, %(t)s)", {"p": made.id, "t": task})
    return made


@pytest.mark.parametrize("declared", [True, False])  # without choices, it is not known who confuses which
@pytest_twisted.ensureDeferred
async def test_every_posterior_and_figure_is_worked_out_again(served, only_numpy, tmp_path, monkeypatch, declared):
    if not declared:
        monkeypatch.delitem(LABEL, "choices")
    made, n = await judged(served), 15 if declared else 18
    project = {"id": made.id, "short_name": made.at.rpartition("/")[2]}
    files = await archive(made.owner, project, (await snapshot(served, made.program, project))["hash"])
    done = recompute(only_numpy, files, tmp_path / "all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{n} posteriors, at most "), done.stdout
    results = rows(files, "results.ndjson")
    figures = json.loads(files["figures.json"])
    assert f"Alpha: {figures['alpha']['value']:.10f}"[:-1] in done.stdout
    low, value, high = (figures["alpha"][key] for key in ("low", "value", "high"))
    assert low < value < high and f"({low:.4f} to {high:.4f}), n = " in done.stdout
    # What the page says is what can be worked out again.
    (shown,) = (await made.owner.get(f"/api/project/{made.id}/agreement")).json()
    assert shown["alpha"] is None or shown["alpha"] == pytest.approx(figures["alpha"]["value"], abs=1e-12)
    one = next(each for each in results if each["model"])["model"]
    assert one["choices"] == (["fox", "owl", None] if declared else [None, "owl", "fox", "cat", 7])
    assert (one["min_answers"], one["max_answers"]) == (None, 3)
    assert all(0.3 < each["accuracy"] <= 0.95 and each["weight"] == 1 for each in one["answers"])
    # Whoever changes a number of it is found out.
    for name, was, becomes in (
        ("results.ndjson", '"prior":[-', '"prior":[-1'),
        ("figures.json", '"value":0', '"value":1'),
        ("figures.json", '"high":', '"high":-'),
    ):
        text = files[name].decode()
        assert was in text
        changed = files | {name: text.replace(was, becomes, 1).encode()}
        assert recompute(only_numpy, changed, tmp_path / "changed").returncode == 1, name
    assert len(files["recompute.py"].splitlines()) <= 60
    # Results from before an upgrade do not say how they were weighed.
    await served.database.execute("UPDATE result SET weighed_by = NULL")
    older = await archive(made.owner, project, (await snapshot(served, made.program, project))["hash"])
    done = recompute(only_numpy, older, tmp_path / "older")
    assert done.returncode == 0 and done.stdout.startswith(f"{n} posteriors, "), done.stdout + done.stderr


RULES = [
    {"name": "owls", "when": [{"measure": "in_a_row", "choice": " OWL", "min": 2}], "then": "complete"},
    {"name": "differ", "when": [{"measure": "agreement", "max": 0}], "then": "more_answers", "answers": 1},
    {
        "name": "doubt",
        "when": [{"measure": "confidence", "max": 0.99}, {"measure": "choices", "min": 2}],
        "then": "review",
    },
    {"name": "known", "when": [{"measure": "votes", "skill": 0.75, "min": 9}], "then": "review"},
]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_each_decision_of_a_rule_is_checked_by_the_files_alone(served, only_numpy, tmp_path):
    made = await Project(served).build([[]] * 4, n_answers=4)
    project = {"id": made.id, "short_name": made.at.rpartition("/")[2]}
    assert (await made.program.post(f"/api/project/{made.id}/rules", json={"rules": RULES})).status == 200
    of_tasks = [["fox", "owl", "owl"], ["owl", "owl"], ["fox", "owl", "fox", "fox"], [7, "fox", "fox"]]
    for task, values in zip(made.tasks, of_tasks, strict=True):
        assert (await made.program.put(f"/api/task/{task}", json={"n_answers": 3})).status == 200
        await answer(made, task, *values)

    async def taken() -> dict[str, bytes]:
        return await archive(made.owner, project, (await snapshot(served, made.program, project))["hash"])

    files = await taken()
    (version,) = rows(files, "rules.ndjson")
    assert (version["version"], version["rules"]) == (1, RULES)
    decisions = rows(files, "decisions.ndjson")
    assert [(one["task"], one["rule"], one["n_answers"], one["classes"]) for one in decisions] == [
        (1, "differ", 2, [1, 2]), (1, "doubt", 3, [1, 2, 2]), (1, "owls", 3, [1, 2, 2]), (2, "owls", 2, [2, 2]),
        (3, "differ", 2, [1, 2]), (3, "doubt", 4, [1, 2, 1, 1]),
    ]  # fmt: skip
    by_rule = {row["task"]: row["model"]["rule"] for row in rows(files, "results.ndjson")}
    assert by_rule == {1: {"name": "owls", "version": 1}, 2: {"name": "owls", "version": 1}, 3: None, 4: None}
    check = partial(recompute, only_numpy, folder=tmp_path / "rules", program="recheck_rules.py")
    done = check(files)
    assert (done.returncode, done.stdout) == (0, "6 decisions: 0 wrong, 0 without what they were made of.\n"), (
        done.stderr
    )
    done = recompute(only_numpy, files, tmp_path / "rules")
    assert (done.returncode, done.stdout[:12]) == (0, "4 posteriors"), "also of the task that 7 says nothing of"
    for name, was, becomes in (
        ("decisions.ndjson", '"classes":[2,2]', '"classes":[2,1]'),
        ("rules.ndjson", '"max":0.99', '"max":0.01'),
        ("rules.ndjson", '"then":"more_answers"', '"then":"review"'),
        ("results.ndjson", '"rule":{"name":"owls"', '"rule":{"name":"foxes"'),
        ("decisions.ndjson", '"n_answers":2,"rule":"owls"', '"n_answers":2,"rule":"differ"'),
    ):
        assert was in files[name].decode(), was
        assert check(files | {name: files[name].replace(was.encode(), becomes.encode(), 1)}).returncode == 1, was
    # Decisions of an earlier version do not say of what they were made; those about open tasks are not for everybody.
    await served.database.execute("UPDATE rule_decision SET weighed_by = NULL WHERE rule = 'doubt'")
    done = check(await taken())
    assert (done.returncode, done.stdout) == (0, "6 decisions: 0 wrong, 2 without what they were made of.\n"), (
        done.stderr
    )
    assert (await made.program.put(f"/api/task/{made.tasks[2]}", json={"n_answers": 9})).status == 200
    info = (await made.program.get(f"/api/project/{made.id}")).json()["info"] | {"answers_when_complete": True}
    assert (await made.program.put(f"/api/project/{made.id}", json={"info": info})).status == 200
    assert {one["task"] for one in rows(await taken(), "decisions.ndjson")} == {1, 2}


async def gold(made: Project, task: int, *answers: str) -> None:
    body = {"task_id": task, "answers": ["owl"]}
    assert (await made.program.post(f"/api/project/{made.id}/gold", json=body)).status == 200
    await answer(made, task, *answers)


async def answer(made: Project, task: int, *answers: Any) -> None:
    for client, value in zip(made.people, answers, strict=False):
        assert (await client.post(f"/api/task/{task}/lease", json={})).status == 200
        run = {"project_id": made.id, "task_id": task, "info": {"answer": value}}
        assert (await client.post("/api/taskrun", json=run)).status == 200


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_gold_tasks_are_in_snapshots_when_they_have_ended_or_the_embargo_is_over(served, only_numpy, tmp_path):
    made = await Project(served).build([["owl", "owl", "fox"], [], []])
    project = {"id": made.id, "short_name": made.at.rpartition("/")[2]}
    _ordinary, ended, live = made.tasks
    for task in (ended, live):
        await gold(made, task, "owl", "owl", "fox")

    async def taken() -> dict[str, bytes]:
        return await archive(made.owner, project, (await snapshot(served, made.program, project))["hash"])

    hidden = await taken()
    assert len(rows(hidden, "tasks.ndjson")) == 1 and rows(hidden, "gold.ndjson") == []
    assert {row["right"] for row in rows(hidden, "answers.ndjson")} == {None}
    assert (await made.program.delete(f"/api/project/{made.id}/gold/{ended}")).status == 200
    files = await taken()
    (row,) = rows(files, "gold.ndjson")
    assert (row["task"], row["right"], row["rule"]) == (2, ["owl"], None) and row["since"] < row["ended"]
    of_gold = [one for one in rows(files, "answers.ndjson") if one["task"] == 2]
    assert [(one["class"], one["right"]) for one in of_gold] == [("owl", True), ("owl", True), ("fox", False)]
    assert recompute(only_numpy, files, tmp_path / "ended").returncode == 0
    # The embargo.
    at, form = f"{made.at}/tasks/gold", {"gold_start": "30", "gold_rate": "3"}
    wrong = (await made.owner.send_form(at, form | {"gold_embargo": "2026-13-01"})).json()
    assert list(wrong["form"]["errors"]) == ["gold_embargo"]
    info = (await made.program.get(f"/api/project/{made.id}")).json()["info"]
    assert (
        await made.program.put(f"/api/project/{made.id}", json={"info": info | {"gold_embargo": "soon"}})
    ).status == 415
    for day, n in (("2999-01-01", 1), ("2020-01-01", 2)):
        assert (await made.owner.send_form(at, form | {"gold_embargo": day})).json()["status"] == "success"
        assert (await made.owner.page(at)).json()["form"]["gold_embargo"] == day
        files = await taken()
        assert len(rows(files, "gold.ndjson")) == n, day
    assert [row["ended"] is None for row in rows(files, "gold.ndjson")] == [False, True]
    assert {one["not_counted"] for one in rows(files, "answers.ndjson") if one["task"] == 3} == {"gold"}
    done = recompute(only_numpy, files, tmp_path / "over")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest_twisted.ensureDeferred
async def test_imported_answers_of_a_draft_have_their_results(served):
    owner = await served.person("owner")
    await answered(served, owner, people=2)
    runs, tasks = await export(owner, "task_run", "json"), await export(owner, "task", "json")
    fish = await served.project(owner, "fish")
    await brought(served, owner, tasks, at=FISH)
    more = [
        task["id"] for task in (await owner.post("/api/task", json=[{"project_id": fish["id"], "info": {}}])).json()
    ]
    await brought(served, owner, runs, at=FISH)
    assert (await owner.put(f"/api/task/{more[0]}", json={"n_answers": 1})).status == 200
    assert (await owner.post(f"/api/task/{more[0]}/lease", json={})).status == 200
    trial = {"project_id": fish["id"], "task_id": more[0], "info": {"answer": "trial"}}
    assert (await owner.post("/api/taskrun", json=trial)).status == 200
    made = await snapshot(served, owner, fish)
    counts = {name: made["counts"][name] for name in ("tasks", "answers", "results")}
    assert counts == {"tasks": 4, "answers": 6, "results": 3}
    files = await archive(owner, fish, made["hash"])
    assert [(one["state"], one["closed"]) for one in rows(files, "tasks.ndjson")] == [
        *[("completed", "complete")] * 3, ("ongoing", None),
    ]  # fmt: skip


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_answers_say_why_they_do_not_count_and_to_which_questions_they_were_given(served):
    made = await Project(served).build([["owl", "owl", "fox"]] * 2)
    project = {"id": made.id, "short_name": made.at.rpartition("/")[2]}
    for version, hours in ((1, 2), (2, 1), (3, -1)):
        await served.database.execute(
            "INSERT INTO question_version (project_id, version, created, questions)"
            " VALUES (%(p)s, %(v)s, clock() - make_interval(hours => %(h)s), '{}')",
            {"p": made.id, "v": version, "h": hours},
        )
    await served.database.execute(
        "UPDATE task_run SET counted = false, unreliable = true, info = info || '{\"questions_version\": 1}'"
        " WHERE id = (SELECT max(id) FROM task_run)"
    )
    files = await archive(made.owner, project, (await snapshot(served, made.program, project))["hash"])
    answers = rows(files, "answers.ndjson")
    assert [one["questions_version"] for one in answers] == [2, 2, 2, 2, 2, 1]
    assert [one["not_counted"] for one in answers] == [None] * 5 + ["unreliable"]
    assert [one["counted"] for one in answers] == [True] * 5 + [False]
