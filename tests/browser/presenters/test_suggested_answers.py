"""Suggested answers, as volunteers see them: accepted, changed, rejected, and not shown."""

from __future__ import annotations

from typing import Any

import pytest
from support.checks.shows import shows
from support.questions.marked_lists import LABELS, every_mark
from support.questions.marking import button, forward, with_media

pytestmark = pytest.mark.browser
ANIMALS = [{"value": "fox", "text": "Fox"}, {"value": "owl", "text": "Owl"}]
SPECIES = {"name": "species", "type": "single_choice", "text": "Which animal?", "required": True, "choices": ANIMALS}
NUMBER = {"name": "number", "type": "number", "text": "How many?"}
AWAKE = {"name": "awake", "type": "yes_no", "text": "Is it awake?"}
WORDS = "This is a suggestion. Check it, and change it if it is wrong."
GUESSES = {"species": "fox", "number": "12", "awake": True}
SQUARE = [[100, 100], [200, 100], [200, 200], [100, 200]]
RING = [[2.3, 48.8], [2.4, 48.8], [2.4, 48.9], [2.3, 48.8]]
MARKED = {
    "boxes_box": [{"x": 100, "y": 100.5, "width": 200, "height": 150, "label": "right", "answers": {"hidden": True}}],
    "boxes_point": [{"x": 10, "y": 20}, {"x": 30, "y": 40}],
    "lines_line": [{"points": [[10, 10], [300, 200]]}],
    "areas_polygon": [{"points": SQUARE}],
    "areas_freehand": [{"points": SQUARE}],
    "counted_count": [{"x": 400, "y": 300}],
    "words_text_spans": [{"start": 0, "end": 5, "text": "Ahmed", "label": LABELS[0]["value"]}],
    "sounds_sound_segments": [{"start": 1.5, "end": 3}],
    "films_video_segments": [{"start": 2, "end": 4.25}],
    "places_map_place": [{"geometry": {"type": "Point", "coordinates": [2.35, 48.85]}}],
    "regions_map_area": [{"geometry": {"type": "Polygon", "coordinates": [RING]}}],
    "writing_transcription": [{"text": "Dear Mary,"}],
}


def suggesting(*questions: Any, share: float = 0) -> Any:
    asked = [{**one, "suggest": {"column": f"guess_{one['name']}", "hidden_share": share}} for one in questions]
    return {"version": 1, "steps": [{"name": "look", "questions": asked}]}


@pytest.fixture(scope="module")
def room(make_stage: Any) -> Any:
    return with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))


@pytest.fixture
def desk(room: Any, new_project: Any) -> Any:
    """A new project for each test."""
    room.mine = new_project(tasks=1)
    return room


def ask(stage: Any, document: Any, *guesses: Any) -> Any:
    """The frame with the questions, about new tasks with these guesses."""
    stage.begin()
    project = stage.mine
    project.show(questions=document)
    for one in guesses:
        info = {f"guess_{name}": value for name, value in one.items()}
        task = {"project_id": project.id, "info": info, "n_answers": 1, "priority_0": 1}
        project.tasks.append(project.owner.api("POST", "task", task)["id"])
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    frame.wait_for_selector("form.say")
    return frame


def run_after(stage: Any, before: int) -> Any:
    stage.until(lambda: len(stage.mine.runs()) > before)
    return stage.mine.runs()[-1]


def said(run: Any) -> Any:
    return {name: value for name, value in run["info"].items() if name != "questions_version"}


@shows("questions-suggest")
def test_a_suggestion_is_accepted_changed_or_rejected(desk: Any) -> None:
    n = len(desk.mine.runs())
    frame = ask(
        desk, suggesting(SPECIES, NUMBER, AWAKE), GUESSES, GUESSES, {**GUESSES, "species": "cat", "number": "x"}
    )
    assert frame.locator(".suggested").all_inner_texts() == [WORDS] * 3
    assert frame.get_by_label("Fox").is_checked() and frame.locator("input[type=text]").input_value() == "12"
    forward(frame, "Send")
    first = run_after(desk, n)
    assert said(first) == {"species": "fox", "number": 12, "awake": True}
    became = first["circumstances"]["suggestions"]
    assert {name: (one["shown"], one["outcome"]) for name, one in became.items()} == dict.fromkeys(
        GUESSES, (True, "accepted")
    )
    assert all(0 <= one["seconds"] < 60 for one in became.values())

    frame.get_by_label("Owl").check()
    frame.locator("input[type=text]").fill("")
    frame.get_by_label("Owl").check()
    desk.page.wait_for_timeout(400)  # a key on a task that has just come was meant for the one before
    forward(frame, "Send")
    second = run_after(desk, n + 1)
    assert said(second) == {"species": "owl", "awake": True}
    outcomes = {name: one["outcome"] for name, one in second["circumstances"]["suggestions"].items()}
    assert outcomes == {"species": "changed", "number": "rejected", "awake": "accepted"}

    desk.until(lambda: frame.locator(".suggested").count() == 1)  # what does not fit is not shown
    assert not frame.get_by_label("Fox").is_checked() and frame.locator("input[type=text]").input_value() == ""
    frame.get_by_label("Fox").check()
    desk.page.wait_for_timeout(400)
    forward(frame, "Send")
    third = run_after(desk, n + 2)
    assert said(third) == {"species": "fox", "awake": True}
    assert list(third["circumstances"]["suggestions"]) == ["awake"]
    assert not desk.console


@shows("questions-suggest")
def test_a_hidden_suggestion_leaves_the_question_empty(desk: Any) -> None:
    n = len(desk.mine.runs())
    frame = ask(desk, suggesting(SPECIES, NUMBER, share=1), GUESSES)
    assert not frame.locator(".suggested").count() and not frame.get_by_label("Fox").is_checked()
    frame.get_by_label("Owl").check()
    forward(frame, "Send")
    run = run_after(desk, n)
    assert said(run) == {"species": "owl"}
    assert run["circumstances"]["suggestions"] == {"species": {"shown": False}, "number": {"shown": False}}


def test_all_volunteers_of_a_task_see_the_same_and_one_task_in_ten_shows_none(desk: Any) -> None:
    frame = ask(desk, suggesting(SPECIES), GUESSES)
    hidden = frame.evaluate(
        "import('/static/questions/suggestions.js').then(({ placeOf }) =>"
        " [...Array(20000).keys()].map((id) => placeOf(id + 1)).filter((place) => place < 0.1).length)"
    )
    assert 1_850 < hidden < 2_150
    large = frame.evaluate(
        "import('/static/questions/suggestions.js').then(({ placeOf }) => [placeOf(7), placeOf(7), placeOf(2 ** 40 + 7)])"
    )
    assert large[0] == large[1] != large[2] and all(0 <= place < 1 for place in large)


def test_what_was_begun_comes_back_beside_its_suggestion(desk: Any) -> None:
    n = len(desk.mine.runs())
    frame = ask(desk, suggesting(SPECIES, NUMBER), GUESSES)
    frame.get_by_label("Owl").check()
    desk.page.wait_for_timeout(300)  # the page keeps it a moment later
    desk.page.reload()
    frame = desk.frame()
    desk.until(lambda: frame.get_by_label("Owl").is_checked())
    assert frame.locator(".suggested").count() == 2
    forward(frame, "Send")
    became = run_after(desk, n)["circumstances"]["suggestions"]
    assert (became["species"]["outcome"], became["number"]["outcome"]) == ("changed", "accepted")


def test_a_single_question_is_answered_by_a_click_on_what_is_suggested(desk: Any) -> None:
    n = len(desk.mine.runs())
    frame = ask(desk, suggesting(SPECIES), GUESSES)
    assert button(frame, "Fox").get_attribute("aria-pressed") == "true"
    button(frame, "Fox").click()
    became = run_after(desk, n)["circumstances"]["suggestions"]
    assert became["species"]["outcome"] == "accepted"


@pytest.mark.proof
def test_every_type_of_marks_shows_what_is_suggested(desk: Any) -> None:
    document = every_mark()
    for step in document["steps"]:
        for one in step["questions"]:
            one["suggest"] = {"column": f"guess_{one['name']}", "hidden_share": 0}
    n = len(desk.mine.runs())
    frame = ask(desk, document, MARKED)
    for step in document["steps"]:
        desk.until(lambda step=step: frame.locator(".suggested >> visible=true").count() == len(step["questions"]))
        last = step is document["steps"][-1]
        desk.until(lambda: not frame.locator(".waiting").count())
        forward(frame, "Send" if last else "Next")
    run = run_after(desk, n)
    answers = said(run)
    bare = {name: [{key: each[key] for key in each if key != "selector"} for each in answers[name]] for name in answers}
    assert bare == MARKED
    assert {one["outcome"] for one in run["circumstances"]["suggestions"].values()} == {"accepted"}
    assert len(run["circumstances"]["suggestions"]) == len(MARKED)
