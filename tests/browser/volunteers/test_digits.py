"""The example project's presenter: every digit by keyboard, skipping, the end."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

EXAMPLE = Path(__file__).parents[3] / "examples" / "digits"


def example_tasks(count: int) -> list[dict[str, Any]]:
    """The first tasks of the example, with their pictures inside."""
    tasks = [json.loads(line)["info"] for line in (EXAMPLE / "tasks.ndjson").read_text().splitlines()[:count]]
    for info in tasks:
        picture = base64.b64encode((EXAMPLE / info["image"]).read_bytes()).decode()
        info["image"] = f"data:image/png;base64,{picture}"
    return tasks


@pytest.fixture
def digits(stage: Any) -> Any:
    """The page of the example, in a project with its first twelve tasks."""
    for task in stage.mine.tasks:
        stage.mine.owner.ask("DELETE", f"/api/task/{task}?api_key={stage.mine.owner.key}")
    body = [{"project_id": stage.mine.id, "info": info, "n_answers": 3} for info in example_tasks(12)]
    stage.mine.tasks = [stage.mine.owner.api("POST", "task", each)["id"] for each in body]
    stage.frame_now = stage.show((EXAMPLE / "presenter.html").read_text())
    stage.until(lambda: stage.frame_now.inner_text("#place") == "Digit 1")
    return stage


def answer(stage: Any, key: str, count: int) -> None:
    stage.page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before
    stage.page.keyboard.press(key)
    stage.until(lambda: stage.page.inner_text("#count") == str(count))
    stage.until(lambda: stage.frame_now.evaluate("document.querySelectorAll('[aria-pressed=true]').length") == 0)


@pytest.mark.proof
def test_all_by_keyboard_to_the_thanks(digits: Any) -> None:
    for number, key in enumerate("0123456789x", start=1):
        digits.until(lambda number=number: digits.frame_now.inner_text("#place") == f"Digit {number}")
        digits.until(lambda: digits.frame_now.evaluate("document.getElementById('picture').naturalWidth") == 160)
        answer(digits, key, number)
    digits.until(lambda: "11 of 12" in digits.frame_now.inner_text("#progress"))
    digits.frame_now.click("button[data-key='7']")
    digits.until(lambda: digits.frame_now.is_visible("#thanks"))
    assert [run["info"]["digit"] for run in digits.runs()] == [*range(10), None, 7]
    assert [run["task_id"] for run in digits.runs()] == digits.mine.tasks
    digits.until(lambda: "12 digits" in digits.frame_now.inner_text("#thanks"))
    assert not digits.console
    digits.frame_now.click("#thanks a")
    digits.until(lambda: digits.path() == f"/project/{digits.mine.short_name}/")


@pytest.mark.proof
def test_a_skipped_one_does_not_come_back_soon(digits: Any) -> None:
    digits.page.keyboard.press("s")
    digits.until(lambda: digits.frame_now.inner_text("#place") == "Digit 2")
    answer(digits, "2", 1)
    assert [run["task_id"] for run in digits.runs()] == [digits.mine.tasks[1]]
    digits.go("/project/MINE/newtask")
    digits.frame_now = digits.frame()
    digits.until(lambda: digits.frame_now.inner_text("#place") == "Digit 3")
    answer(digits, "3", 2)
    digits.until(lambda: digits.frame_now.inner_text("#place") == "Digit 4")


@pytest.mark.proof
def test_a_held_key_answers_once(digits: Any) -> None:
    digits.page.keyboard.down("3")
    digits.page.keyboard.down("3")  # repeated by the keyboard
    digits.until(lambda: digits.frame_now.inner_text("#place") == "Digit 2")
    digits.page.keyboard.up("3")
    digits.settle()
    assert len(digits.runs()) == 1


def test_the_files_of_the_example_belong_together() -> None:
    tasks = [json.loads(line) for line in (EXAMPLE / "tasks.ndjson").read_text().splitlines()]
    assert len(tasks) == 200
    assert {task["n_answers"] for task in tasks} == {3}
    named = {task["info"]["image"] for task in tasks}
    assert named == {f"images/{path.name}" for path in (EXAMPLE / "images").iterdir()}
    project = json.loads((EXAMPLE / "project.json").read_text())
    assert (EXAMPLE / project["info"]["thumbnail_url"]).is_file()
    assert "digits/" not in (EXAMPLE / "presenter.html").read_text(), "it works under any short name"
