"""Without a line: tasks ahead, answers that wait, a browser that is killed and opened again. Nothing is lost and nothing doubled."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import pytest
from profiles import LOOK, Profile, answer, stored
from support.checks.shows import shows
from support.person import Person

pytestmark = pytest.mark.browser
PATIENCE: Final = 3000.0
OWN: Final = """<p id="place"></p><button id="yes">Yes</button><button id="no">No</button><script>
  let done = null, shown = null;
  pybossa.presentTask((task, deferred) => {
    shown = task; done = deferred;
    document.getElementById("place").textContent = task.id ? `Task ${task.id}` : "";
  });
  for (const name of ["yes", "no"]) document.getElementById(name).onclick = () => {
    if (shown?.id) pybossa.saveTask(shown, { it: name === "yes" }).done(() => done.resolve());
  };
  pybossa.run("SHORT_NAME");
</script>"""
"""A presenter of an owner's that waits until its answer is saved."""


def walk(profile: Profile, project: str, number: int, seed: int, answers_by_task: dict[int, bool]) -> Iterator[None]:
    """Answers so many tasks, one at a time, while the line comes and goes and the browser is killed."""
    chance, off = random.Random(seed), False
    frame = profile.begin(project)
    while len(answers_by_task) < number:
        event = chance.choice(["", "", "cut", "join", "lose", "kill"])
        match {number // 2: "cut", number // 2 + 1: "kill"}.get(
            len(answers_by_task), event
        ):  # once while an answer waits
            case "cut" if len(answers_by_task) > 2:
                off = True
                profile.cut(off)
            case "join":
                off = False
                profile.cut(off)
            case "lose":
                profile.lose_next()
            case "kill" if answers_by_task:
                profile.kill()
                off = False
                profile.open()
                frame = profile.begin(project)
        task, answered = answer(profile, frame, chance.random() < 0.5)
        assert task not in answers_by_task  # it was not handed out again
        answers_by_task[task] = answered
        if off and not moved(profile, task):  # what was here is used up
            off = False
            profile.cut(off)
        assert moved(profile, task, 60)
        yield
    profile.cut(False)
    profile.until(lambda: profile.page.is_hidden("#offline"))


def moved(profile: Profile, task: int, seconds: float = 4) -> bool:
    """Whether another task is shown within some seconds."""
    end = time.monotonic() + seconds
    while profile.page.url.endswith(f"/{task}") and time.monotonic() < end:
        profile.page.wait_for_timeout(30)
    return not profile.page.url.endswith(f"/{task}")


@shows("answers-without-line")
@pytest.mark.parametrize(
    ("browsers", "number", "own"),
    [
        (1, 12, False),
        (1, 9, True),
        pytest.param(3, 6, False, marks=pytest.mark.proof),  # at the same time
        pytest.param(10, 50, False, marks=[pytest.mark.proof, pytest.mark.size]),
    ],
)
def test_nothing_is_lost_or_doubled(
    browser: Any, live_server: Any, new_project: Any, tmp_path: Path, browsers: int, number: int, own: bool
) -> None:
    project = new_project(tasks=number + 20)
    if own:
        project.show(task_presenter=OWN.replace("SHORT_NAME", project.short_name))
    else:
        project.show(questions=LOOK)
    profiles: list[Profile] = []
    answers_by_browser: list[dict[int, bool]] = [{} for _ in range(browsers)]
    try:
        profiles.extend(
            Profile(browser.browser_type, tmp_path / str(seed), live_server.url) for seed in range(browsers)
        )
        walks = [
            walk(one, project.short_name, number, seed, answers_by_browser[seed]) for seed, one in enumerate(profiles)
        ]
        for _ in zip_longest(*walks):
            pass  # each has answered once more
    finally:
        for one in profiles:
            one.kill()
    assert sorted(stored(project)) == sorted(pair for each in answers_by_browser for pair in each.items())


@shows("answers-without-line-account")
def test_an_answer_that_waits_is_sent_by_the_account_that_gave_it_only(
    browser: Any, live_server: Any, new_project: Any, tmp_path: Path
) -> None:
    project = new_project(tasks=20)
    project.show(questions=LOOK)
    people = [Person(live_server.url).register(f"{name}{project.id}") for name in ("one", "other")]
    profile = Profile(browser.browser_type, tmp_path / "profile", live_server.url)
    try:
        profile.context.add_cookies(people[0].cookies(live_server.url))
        frame = profile.begin(project.short_name)
        profile.task()
        profile.cut(True)
        waits = answer(profile, frame, True)
        profile.kill()
        for jar in ([], people[1].cookies(live_server.url)):
            profile.open()
            profile.context.clear_cookies()
            profile.context.add_cookies(jar)
            frame = profile.begin(project.short_name)
            answer(profile, frame, False)  # theirs is stored, and by then the other one would be, too
            profile.until(lambda: profile.page.inner_text("#count") == "1")
            profile.kill()
        assert waits not in stored(project) and len(stored(project)) == 2
        profile.open()
        profile.context.clear_cookies()
        profile.context.add_cookies(people[0].cookies(live_server.url))
        profile.begin(project.short_name)
        profile.until(lambda: waits in stored(project))
        mine = people[0].api("GET", "taskrun", project_id=project.id, user_id=people[0].profile()["user"]["id"], all=1)
        assert [(row["task_id"], row["info"]["it"]) for row in mine] == [waits]
    finally:
        profile.kill()
