"""What screen readers are told of questions: each type by name, role and state, what is wrong, and what has changed."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from support.questions.marked_lists import every_mark
from support.questions.marking import ask, button, by_keyboard, field, press, with_media
from support.questions.question_lists import every_form

pytestmark = pytest.mark.browser
STATES = ("checked", "pressed", "expanded", "required", "invalid", "disabled")


@pytest.fixture(scope="module")
def desk(make_stage: Any) -> Any:
    return with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))


@attrs.frozen
class Node:
    """A part of the page as Chromium tells assistive software; ``states`` are those that are on."""

    role: str
    name: str
    states: frozenset[str]
    description: str
    value: str


class Tree:
    """What the frame says now."""

    def __init__(self, stage: Any, frame: Any) -> None:
        line = stage.context.new_cdp_session(frame)
        nodes = line.send("Accessibility.getFullAXTree")["nodes"]
        line.detach()
        self.nodes = [self._node(node) for node in nodes if not node.get("ignored")]

    def _node(self, node: Any) -> Node:
        properties = {one["name"]: str(one["value"].get("value")).lower() for one in node.get("properties", [])}
        states = frozenset(name for name in STATES if properties.get(name) == "true")
        name, description, value = (str(node.get(key, {}).get("value", "")) for key in ("name", "description", "value"))
        return Node(node["role"]["value"], name, states, description, value)

    def of(self, role: str, name: str) -> Node:
        """The first part with this role and name."""
        matches = [node for node in self.nodes if node.role == role and begins(node.name, name)]
        assert matches, (role, name, [node for node in self.nodes if node.role == role])
        return matches[0]

    def states(self, role: str, name: str) -> set[str]:
        return set(self.of(role, name).states)


def told(stage: Any, frame: Any, role: str, name: str) -> set[str]:
    """The states of a part, once Chromium has it in its tree, to which it adds a change some time after the page did."""
    stage.until(lambda: any(node.role == role and begins(node.name, name) for node in Tree(stage, frame).nodes))
    return Tree(stage, frame).states(role, name)


def begins(words: str, wanted: str) -> bool:
    """Whether they are the same, or the beginning is where ``wanted`` ends with …"""
    return words.startswith(wanted[:-1]) if wanted.endswith("…") else words == wanted


def said(stage: Any, frame: Any, words: str) -> None:
    """Waits until it is announced."""
    stage.until(lambda: begins(frame.locator("body > [role=status]").inner_text(), words))


def at_once(document: Any) -> Any:
    """All questions in one step, without conditions."""
    steps = document["steps"]
    questions = [question for step in steps for question in step["questions"]]
    for question in questions:
        question.pop("show_if", None)
    media = [medium for step in steps for medium in step.get("media", [])]
    return {"version": 1, "steps": [{"name": "all", "media": media, "questions": questions}]}


EMPTY: list[tuple[str, str, set[str]]] = [
    ("radiogroup", "Which animal?", {"required"}),
    ("radio", "Fox", set()),
    ("group", "Which colours? (optional)", set()),
    ("checkbox", "Red", set()),
    ("radiogroup", "Is it young? (optional)", set()),
    ("textbox", "How old is it? (optional) years", set()),
    ("radiogroup", "How clear is it?", {"required"}),
    ("radio", "1, Not at all", set()),
    ("radio", "5, Very", set()),
    ("slider", "How light is it? (optional)", set()),
    ("textbox", "Give it a name.", {"required"}),
    ("textbox", "What happens? (optional)", set()),
    ("Date", "When was it? (optional)", set()),
    ("group", "When was it written? (optional)", set()),
    ("list", "What comes first?", set()),
    ("button", "Move up: Food", {"disabled"}),
    ("button", "Move down: Food", set()),
    ("table", "What does it do?", set()),
    ("columnheader", "It hunts", set()),
    ("rowheader", "By day", set()),
    ("radio", "By day It hunts", set()),
    ("image", "/", set()),
]
WRONG: list[tuple[str, str]] = [
    ("radiogroup", "Which animal?"),
    ("radiogroup", "How clear is it?"),
    ("textbox", "Give it a name."),
    ("radio", "By day It hunts"),
    ("radiogroup", "Is it sly?"),
]


@pytest.mark.proof
def test_each_type_of_form_says_its_name_role_and_state(desk: Any) -> None:
    frame = ask(desk, at_once(every_form()))
    tree = Tree(desk, frame)
    for role, name, states in EMPTY:
        assert tree.states(role, name) == states, (role, name)
    asked = [question["text"] for step in every_form()["steps"] for question in step["questions"]]
    words = [each if isinstance(each, str) else each["en"] for each in asked]
    assert [each for each in words if not any(each in name for _, name, _ in EMPTY) and each != "Is it sly?"] == []
    assert frame.get_attribute("input[type=range]", "aria-valuetext") == "Not set"

    button(frame, "Send").click()
    tree = Tree(desk, frame)
    for role, name in WRONG:
        wrong = tree.of(role, name)
        assert "Answer this question." in wrong.description, wrong
        assert wrong.states & {"invalid"} or role == "radio", wrong
    assert tree.of("alert", "").states == set()
    assert frame.locator("[role=alert]").first.inner_text() == "Please check your answers."
    assert frame.evaluate("document.activeElement.closest('[data-question]').dataset.question") == "animal"

    frame.get_by_label("Fox").check()
    frame.get_by_label("Red", exact=True).check()
    frame.locator("[data-question=young]").get_by_label("I can’t tell").check()
    frame.get_by_label("4", exact=True).check()
    frame.locator("input[type=range]").press("ArrowRight")
    frame.get_by_role("button", name="Move up: Play").click()
    said(desk, frame, "Play is now at 2 of 3.")
    tree = Tree(desk, frame)
    assert tree.states("radiogroup", "Which animal?") == {"required"}
    assert tree.of("radiogroup", "Which animal?").description == "Look at the ears."
    for role, name in (("radio", "Fox"), ("checkbox", "Red"), ("radio", "I can’t tell"), ("radio", "4")):
        assert "checked" in tree.states(role, name), (role, name)
    assert frame.get_attribute("input[type=range]", "aria-valuetext") == tree.of("slider", EMPTY[9][1]).value == "7"


MARKED: list[tuple[str, str, str, list[tuple[str, str, set[str]]]]] = [
    ("boxes_box", "Add a box", "Box 1: Left added at 300, 225; 200 × 150. Arrow keys move it.", [
        ("group", "Mark it: box (optional)", set()), ("group", "Label of the next mark", set()), ("radio", "Left", {"checked"}),
        ("button", "Draw", {"pressed"}), ("list", "Mark it: box (optional)", set()), ("button", "Delete Box 1: Left", set()),
        ("button", "Box 1: Left 300, 225 · 200 × 150", {"expanded"}), ("textbox", "Width", set()),
        ("radiogroup", "Is it hidden? (optional)", set()), ("image", "An example", set())]),
    ("boxes_point", "Add a point", "Point 1 added at 400, 300. Arrow keys move it.", [
        ("button", "Point 1 400, 300", {"expanded"}), ("button", "Box 1: Left 300, 225 · 200 × 150", set())]),
    ("lines_line", "Add a line", "Line 1 added at 300, 300; Points: 2. Arrow keys move it.", [
        ("button", "Line 1 300, 300 · Points: 2", {"expanded"}), ("combobox", "Point", set()),
        ("button", "Remove the point", set())]),
    ("areas_polygon", "Add an area", "Area 1 added at 320, 240; Points: 4. Arrow keys move it.", [
        ("button", "Area 1 320, 240 · Points: 4", {"expanded"})]),
    ("areas_freehand", "Add an area", "Area 1 added at 480, 300; Points: 8. Arrow keys move it.", [
        ("button", "Area 1 480, 300 · Points: 8", {"expanded"})]),
    ("counted_count", "Add a point", "Point 1 added at 400, 300. Arrow keys move it.", [
        ("button", "Point 1 400, 300", {"expanded"}), ("application", "Picture", set()), ("image", "An example", set()),
        ("toolbar", "Picture", set()),
        ("button", "Turn by 90 degrees", set())]),
    ("words_text_spans", "Add a mark", "Mark 1: Left added at “Ahmed”. Arrow keys move it.", [
        ("button", "Mark 1: Left “Ahmed”", {"expanded"}), ("blockquote", "An example", set())]),
    ("sounds_sound_segments", "Add a segment", "Segment 1 added at 0:00 – 0:00.5. Arrow keys move it.", [
        ("button", "Segment 1 0:00 – 0:00.5", {"expanded"}), ("button", "Play", set()), ("textbox", "Start", set()),
        ("group", "An example", set()), ("button", "2 seconds back", set())]),
    ("films_video_segments", "Add a segment", "Segment 1 added at 0:00 – 0:00.5. Arrow keys move it.", [
        ("button", "Segment 1 0:00 – 0:00.5", {"expanded"}), ("Video", "An example", set())]),
    ("places_map_place", "Add a place", "Place 1 added at 48.8…", [
        ("button", "Place 1 48.8…", {"expanded"}), ("region", "An example", set()),
        ("textbox", "Latitude", set())]),
    ("regions_map_area", "Add an area", "Area 1 added at 48.8…", [("combobox", "Point", set())]),
    ("writing_transcription", "Add a line", "Line 1 added.", [
        ("textbox", "Line 1", set()), ("button", "Delete Line 1", set()), ("button", "Add a box", set())]),
]  # fmt: skip


@pytest.mark.proof
def test_each_type_of_marks_says_its_name_role_and_state(desk: Any) -> None:
    document = every_mark()
    for step in document["steps"]:
        for question in step["questions"]:
            question.pop("required", None)
    frame = ask(desk, document)
    here = {question["name"]: nth for nth, step in enumerate(document["steps"]) for question in step["questions"]}
    assert [name for name, *_ in MARKED] == [*here]
    at = 0
    for name, add, words, parts in MARKED:
        if here[name] != at:
            press(desk, frame, "Next")
            at = here[name]
        shown = field(frame, name)
        assert shown.get_by_label("There is nothing to mark").is_visible()
        by_keyboard(desk, frame, name, add)
        said(desk, frame, words)
        if (exact := shown.get_by_text("Exact position").locator("visible=true")).count():
            exact.press("Enter")
        for role, label, states in parts:
            assert told(desk, frame, role, label) == states, (name, role, label)
    button(frame, "Send").wait_for()
