"""What a hand does on the second task is what is stored: presses that last, on windows of three sizes, with mouse and finger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from support.checks.shows import shows
from support.questions.marked_lists import SITE, only, step
from support.questions.marking import Surface, answers, button, field, forward, near, picture, with_media

pytestmark = pytest.mark.browser
HELD: Final = 120
"""Milliseconds between press and release."""
SIZES: Final[dict[str, dict[str, Any]]] = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "landscape": {"viewport": {"width": 844, "height": 390}},
}
LABELS: Final = [{"value": "duck", "text": "Duck"}, {"value": "boat", "text": "Boat", "key": "b"}]
LETTER: Final = {"name": "letter", "type": "text", "source": {"url": f"{SITE}/letter.txt"}}
MAP: Final = {"name": "ground", "type": "map", "center": [48.85, 2.35], "zoom": 12, "description": "An example"}


@pytest.fixture(scope="module", params=SIZES)
def hand(request: Any, make_stage: Any) -> Iterator[Hand]:
    stage = with_media(make_stage(**SIZES[request.param], reduced_motion="reduce"))
    yield Hand(stage)
    stage.context.close()


@pytest.fixture(scope="module")
def mouse(make_stage: Any) -> Hand:
    return Hand(with_media(make_stage(**SIZES["desktop"], reduced_motion="reduce")))


class Hand:
    """A mouse, or a finger where the window has one."""

    def __init__(self, stage: Any) -> None:
        self.stage = stage
        self.finger: Any = None

    def begin(self, document: Any, name: str = "") -> Any:
        """The frame with the second task of two; the first is sent as it is."""
        self.stage.begin()
        for _ in range(2):
            self.stage.mine.add_task()
        self.stage.mine.show(questions=document)
        self.before = len(self.stage.mine.runs())
        self.stage.go("/project/MINE/newtask")
        self.finger = self.stage.context.new_cdp_session(self.page) if self.touch else None
        self.frame = self.stage.frame()
        first = self.frame.wait_for_selector("form.say .over").inner_text()
        if name:
            field(self.frame, name)
        forward(self.frame, "Send")
        self.stage.until(lambda: self.frame.locator("form.say .over").inner_text() != first)
        self.field = field(self.frame, name) if name else None
        self.still(self.page.locator("#presenter iframe"))
        return self.frame

    @property
    def page(self) -> Any:
        return self.stage.page

    @property
    def touch(self) -> bool:
        return bool(self.page.evaluate("navigator.maxTouchPoints"))

    def still(self, place: Any) -> Any:
        """Where something is, once nothing moves."""
        return self.stage.until(
            lambda: (box := place.bounding_box()) and not self.wait() and box == place.bounding_box() and box
        )

    def wait(self, time: int = HELD) -> None:
        self.page.wait_for_timeout(time)

    def down(self, x: float, y: float) -> None:
        if self.finger:
            self.finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        else:
            self.page.mouse.move(x, y)
            self.page.mouse.down()

    def up(self) -> None:
        if self.finger:
            self.finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            self.wait(350)  # what follows sooner is a second tap
        else:
            self.page.mouse.up()

    def press(self, x: float, y: float) -> None:
        self.down(x, y)
        self.wait()
        self.up()

    def middle(self, place: Any) -> tuple[float, float]:
        place.evaluate("place => place.scrollIntoView({block: 'center'})")
        box = self.still(place)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def surface(self, place: Any, size: tuple[float, float]) -> Surface:
        """Something to press on, as far as it can be from what lies over the edges of the window."""
        place.evaluate("place => place.scrollIntoView({block: 'center'})")
        return Surface(self.stage, place, size)

    def photo(self) -> Surface:
        return self.surface(self.frame.locator(".marked:visible svg.a9s-annotationlayer"), (800, 600))

    def drag(self, surface: Surface, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.middle(surface.place)
        self.down(*surface.at(*start))
        x, y = surface.at_once(*end)
        if self.finger:
            self.finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y}]})
        else:
            self.page.mouse.move(x, y, steps=4)
        self.wait()
        self.up()

    def press_on(self, place: Any) -> None:
        self.press(*self.middle(place))

    def answer(self, document: Any) -> Any:
        forward(self.frame, "Send")
        return answers(self.stage, self.before + 2, document)

    def focused(self) -> str:
        return str(self.frame.evaluate("document.activeElement.localName"))


@pytest.mark.proof
def test_the_first_press_counts_and_moves_nothing(hand: Hand) -> None:
    asked = [{"name": name, "type": "yes_no", "text": f"Is it {name}?"} for name in ("old", "torn")]
    document = {"version": 1, "steps": [{"name": "all", "questions": asked}]}
    frame = hand.begin(document)
    choice = frame.locator("[data-question=torn] .choice").first
    place, box, scrolled = hand.middle(choice), choice.bounding_box(), hand.page.evaluate("scrollY")
    hand.down(*place)
    hand.wait()
    assert choice.bounding_box() == box
    hand.up()
    hand.stage.until(lambda: choice.locator("input").is_checked())
    assert hand.page.evaluate("scrollY") == scrolled
    assert hand.answer(document)["torn"] is True


@pytest.mark.proof
def test_the_next_task_begins_at_its_top(hand: Hand) -> None:
    asked = [{"name": f"a{n}", "type": "yes_no", "text": f"Is it {n}?"} for n in range(8)]
    frame = hand.begin({"version": 1, "steps": [{"name": "all", "questions": asked}]})
    number, bar = frame.locator("form.say .over"), hand.page.locator("#leave")
    before, at = number.inner_text(), [hand.still(each)["y"] for each in (number, bar)]
    hand.stage.mine.add_task()
    hand.middle(frame.locator("[data-question=a7] .choice").first)
    hand.press(*hand.middle(frame.locator("button.main:visible").first))
    hand.stage.until(lambda: number.inner_text() != before)
    assert [hand.still(each)["y"] for each in (number, bar)] == at and at[1] >= 0


@pytest.mark.proof
def test_a_button_acts_on_the_press_that_began_on_it(mouse: Hand) -> None:
    document = {
        "version": 1,
        "steps": [{"name": "all", "questions": [{"name": "a", "type": "yes_no", "text": "Is it?"}]}],
    }
    document["steps"][0]["questions"].append({"name": "note", "type": "short_text", "text": "Anything else?"})
    frame = mouse.begin(document)
    frame.evaluate(
        "addEventListener('pointerdown', () => document.querySelector('form.say').style.paddingBlockStart = '300px')"
    )
    yes = frame.locator("[data-question=a] .choice").first
    mouse.press_on(yes)
    assert yes.locator("input").is_checked()
    x, y = mouse.middle(frame.locator("[data-question=a] .choice").nth(1))
    mouse.down(x, y)
    mouse.page.mouse.move(x, y + 200, steps=4)  # left: it was not meant
    mouse.up()
    assert yes.locator("input").is_checked()


@pytest.mark.proof
def test_a_place_on_a_map_is_where_the_pointer_was(hand: Hand) -> None:
    question = {"name": "where", "type": "map_place", "text": "Where is it?", "on": "ground", "max": 1}
    document = {"version": 1, "steps": [{"name": "all", "media": [LETTER, MAP], "questions": [question]}]}
    frame = hand.begin(document, "where")
    ground, pin = frame.locator(".map"), frame.locator(".map .leaflet-marker-pane > *")
    assert (
        ground.bounding_box()["height"] + frame.locator(".text").bounding_box()["height"]
        <= hand.page.viewport_size["height"]
    )
    ground.evaluate("place => place.scrollIntoView({block: 'nearest'})")
    box = hand.still(ground)
    if not hand.finger:
        hand.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert pin.count() == 0
    for right, down in ((0.3, 0.4), (0.7, 0.8), (0.69, 0.79)):  # the only one moves, also by a little
        x, y, scrolled = box["x"] + box["width"] * right, box["y"] + box["height"] * down, hand.page.evaluate("scrollY")
        hand.press(x, y)
        place = hand.stage.until(lambda: pin.count() == 1 and hand.still(pin))
        assert near([place["x"] + place["width"] / 2, place["y"] + place["height"] / 2], [x, y]), (place, x, y)
        assert hand.page.evaluate("scrollY") == scrolled
    assert frame.locator(".mark-item").count() == 1
    assert len(hand.answer(document)["where"]) == 1


@pytest.mark.proof
@pytest.mark.parametrize(("kind", "medium"), [("map_area", "map"), ("polygon", "picture"), ("line", "picture")])
def test_an_outline_is_finished_taken_back_and_named_when_it_is_neither(hand: Hand, kind: str, medium: str) -> None:
    document = only(kind, medium, "" if medium == "map" else "/photo.jpg")
    if medium == "map":
        document["steps"][0]["media"][0] |= {"center": [48.85, 2.35], "zoom": 12}
    frame, name = hand.begin(document, f"one_{kind}"), f"one_{kind}"
    shown = hand.surface(frame.locator(".map" if medium == "map" else ".marked svg.a9s-annotationlayer"), (100, 100))
    for place in ((20, 20), (60, 25), (50, 60), (80, 80)):
        hand.press(*shown.at(*place))
    hand.press_on(hand.page.locator("#skip"))  # it is work that would be lost
    hand.page.get_by_text("Your work on this task is not sent.").wait_for()
    hand.press_on(hand.page.locator("#keep"))
    hand.press_on(button(hand.field, "Undo"))
    forward(frame, "Send")
    problem = frame.locator(f"[data-question={name}] > .bad")
    problem.wait_for()
    assert (
        problem.inner_text() == f"Your {'line' if kind == 'line' else 'area'} is not finished. Finish it or delete it."
    )
    hand.press_on(button(hand.field, "Finish"))
    hand.stage.until(lambda: frame.locator(".mark-item").count() == 1)
    assert not problem.is_visible()
    [mark] = hand.answer(document)[name]
    corners = mark["points"] if "points" in mark else mark["geometry"]["coordinates"][0][:-1]
    assert len(corners) == 3


@pytest.mark.proof
def test_a_label_is_for_the_next_mark(hand: Hand) -> None:
    document = only("box", "picture", "/photo.jpg", labels=LABELS)
    frame = hand.begin(document, "one_box")
    photo = hand.photo()

    def draw(start: tuple[float, float], end: tuple[float, float]) -> None:
        hand.drag(photo, start, end)

    def labels() -> list[str]:
        return list(frame.locator(".mark > span:first-child").all_text_contents())

    draw((100, 100), (250, 200))
    hand.press_on(hand.field.locator(".choice", has_text="Boat"))
    draw((250, 200), (400, 350))  # on the corner of the first one
    hand.stage.until(lambda: labels() == ["Box 1: Duck", "Box 2: Boat"])
    if (fold := hand.field.locator(".marks-fold[aria-expanded=false]")).count():
        hand.press_on(fold)
    hand.press_on(frame.locator(".mark").first)  # chosen, it can be called something else
    hand.press_on(hand.field.locator(".choice", has_text="Boat"))
    hand.stage.until(lambda: labels() == ["Box 1: Boat", "Box 2: Boat"])
    assert frame.locator(".marks-news").inner_text() == "Box 1 is now: Boat. Undo takes this back."
    hand.press_on(button(hand.field, "Undo"))
    hand.stage.until(lambda: labels() == ["Box 1: Duck", "Box 2: Boat"])
    hand.press_on(hand.field.locator(".choice", has_text="Duck"))
    hand.stage.until(lambda: hand.field.locator("legend").inner_text() == "Label of the next mark")
    info = hand.answer(document)["one_box"]
    assert near(info[0], {"x": 100, "y": 100, "width": 150, "height": 100, "label": "duck"}, 4), info
    assert near(info[1], {"x": 250, "y": 200, "width": 150, "height": 150, "label": "boat"}, 4), info


@pytest.mark.proof
@pytest.mark.parametrize(
    ("kind", "medium", "path"),
    [
        ("count", "picture", "/photo.jpg"),
        ("text_spans", "text", "/letter.txt"),
        ("sound_segments", "sound", "/call.wav"),
        ("map_place", "map", ""),
    ],
)
def test_the_label_of_the_next_mark_outlives_a_reload_and_ends_with_its_task(
    mouse: Hand, kind: str, medium: str, path: str
) -> None:
    document, name = only(kind, medium, path, labels=LABELS), f"one_{kind}"
    chosen = "[data-question] .marks-labels input:checked"
    mouse.begin(document, name)
    mouse.press_on(mouse.field.locator(".choice", has_text="Boat"))
    drafted = "JSON.stringify({ ...sessionStorage }).includes('boat')"
    mouse.stage.until(lambda: mouse.page.evaluate(drafted))
    mouse.page.reload()
    frame = mouse.frame = mouse.stage.frame()
    mouse.field = field(frame, name)
    assert frame.locator(chosen).input_value() == "boat"
    mouse.press_on(mouse.field.locator(".marks-tools").get_by_role("button", name="Add"))
    mouse.stage.until(lambda: frame.locator(".mark-item").count() == 1)
    assert mouse.answer(document)[name][0]["label"] == "boat"
    mouse.stage.until(lambda: frame.locator(".mark-item").count() == 0)
    assert frame.locator(chosen).input_value() == LABELS[0]["value"]


@shows("page-task-thumb")
def test_keys_of_marks_are_hinted_at_once_and_are_always_in_the_list(hand: Hand, new_project: Any) -> None:
    hand.stage.mine = new_project(n_answers=1)  # a browser is hinted at once in a project
    frame = hand.begin(only("box", "picture", "/photo.jpg"), "one_box")
    photo, hints = hand.photo(), frame.locator(".mark-keys:visible")
    hand.drag(photo, (100, 100), (250, 200))
    hand.stage.until(lambda: frame.locator(".mark-item").count() == 1)
    fine = frame.evaluate("matchMedia('(pointer: fine)').matches")
    assert fine is not hand.touch and hints.count() == int(fine)
    assert frame.locator(".mark-numbers:visible").count() == 0  # no coordinates
    hand.drag(photo, (400, 100), (550, 200))
    hand.stage.until(lambda: frame.locator(".mark-item").count() == 2)
    assert hints.count() == 0
    assert "Moves the mark that has the focus" in hand.page.locator("#offers").text_content()
    hand.page.reload()
    frame = hand.stage.frame()
    frame.locator("button", has_text="Add a box").press("Enter")
    frame.locator(".mark-item.chosen").wait_for()
    assert frame.locator(".mark-keys:visible").count() == 0


@pytest.mark.proof
def test_a_mark_may_begin_on_another_one_and_is_not_covered(mouse: Hand) -> None:
    photo = {"name": "photo", "type": "picture", "description": "An example", "source": {"url": f"{SITE}/photo.jpg"}}
    document = {"version": 1, "steps": [step("one", photo, "point", "box")]}
    frame = mouse.begin(document, "one_point")
    surface = picture(mouse.stage, frame)
    for place in ((300, 300), (312, 300), (150, 120)):  # close to each other
        mouse.press(*surface.at(*place))
    mouse.stage.until(lambda: frame.locator("[data-question=one_point] .mark-item").count() == 3)
    mouse.press_on(button(field(frame, "one_box"), "Draw"))
    surface.drag((300, 300), (500, 450))
    surface.drag((500, 450), (600, 550))  # from the corner of the one before
    mouse.stage.until(lambda: frame.locator("[data-question=one_box] .mark-item").count() == 2)
    covered = """() => {
        const boxes = [...document.querySelectorAll(".outlines > g .a9s-inner")].map((shape) => shape.getBoundingClientRect());
        const numbers = [...document.querySelectorAll(".tags span")].map((tag) => tag.getBoundingClientRect());
        return [numbers.length, numbers.filter((tag) => boxes.some((box) => tag.left < box.right && tag.right > box.left
            && tag.top < box.bottom && tag.bottom > box.top)).length];
    }"""
    assert frame.evaluate(covered) == [5, 0]
    fills = frame.locator(".a9s-inner").evaluate_all("all => all.map((each) => +getComputedStyle(each).fillOpacity)")
    assert max(fills) <= 0.08
    assert not frame.get_by_label("Width", exact=True).locator("visible=true").count()
    mouse.press_on(frame.get_by_text("Exact position").locator("visible=true"))
    assert frame.get_by_label("Width", exact=True).locator("visible=true").input_value().startswith("100")
    info = mouse.answer(document)
    assert near([[each["x"], each["y"]] for each in info["one_point"]], [[300, 300], [312, 300], [150, 120]])
    assert near(info["one_box"][1], {"x": 500, "y": 450, "width": 100, "height": 100}), info["one_box"]


@pytest.mark.proof
def test_a_press_in_a_box_chooses_it_beside_the_edge_of_another(mouse: Hand) -> None:
    frame = mouse.begin(only("box", "picture", "/photo.jpg", labels=LABELS), "one_box")
    photo, news = picture(mouse.stage, frame), frame.locator(".marks-news")
    for left in (100, 254):
        photo.drag((left, 100), (left + 150, 250))
    mouse.stage.until(lambda: frame.locator(".mark-item").count() == 2)
    mouse.press_on(button(mouse.field, "Draw"))
    for nth, place in ((1, (246, 180)), (2, (258, 180)), (1, (94, 180))):  # in either of them, and beside the first
        mouse.press(*photo.at(*place))
        mouse.stage.until(lambda nth=nth: news.inner_text().startswith(f"Box {nth}: Duck is selected."))


@pytest.mark.proof
def test_a_selected_mark_has_handles_only_while_nothing_is_drawn(mouse: Hand) -> None:
    document = only("box", "picture", "/photo.jpg", labels=LABELS)
    frame = mouse.begin(document, "one_box")
    photo, draw = picture(mouse.stage, frame), button(mouse.field, "Draw")
    photo.drag((100, 100), (250, 200))
    mouse.press_on(frame.locator(".mark").first)
    news = "Box 1: Duck is selected. A label that you choose now is for it. To drag it, turn off “Draw”."
    assert frame.locator(".marks-news").inner_text() == news
    photo.drag((250, 200), (400, 300))  # from its corner
    mouse.stage.until(lambda: frame.locator(".mark-item").count() == 2)
    mouse.press_on(draw)
    mouse.press_on(frame.locator(".mark").first)
    assert (
        frame.locator(".marks-news").inner_text() == "Box 1: Duck is selected. A label that you choose now is for it."
    )
    photo.drag((250, 200), (230, 220))
    mouse.press_on(draw)
    photo.drag((230, 220), (300, 320))
    mouse.stage.until(lambda: frame.locator(".mark-item").count() == 3)
    info = mouse.answer(document)["one_box"]
    assert near([each["x"] for each in info], [100, 250, 230]), info
    assert near(info[0], {"x": 100, "y": 100, "width": 130, "height": 120}), info

    call = {"name": "call", "type": "sound", "description": "An example", "source": {"url": f"{SITE}/call.wav"}}
    document = {"version": 1, "steps": [step("one", call, "sound_segments")]}
    frame = mouse.begin(document, "one_sound_segments")
    line = Surface(mouse.stage, frame.locator(".waves:visible"), (10, 1))
    line.drag((2, 0.7), (4, 0.7))
    mouse.press_on(frame.locator(".mark").first)
    line.drag((4, 0.7), (5, 0.7))
    mouse.stage.until(lambda: frame.locator(".mark-item").count() == 2)
    mouse.press_on(button(mouse.field, "Draw"))
    line.click((3, 0.7))
    line.drag((3.99, 0.7), (4.5, 0.7))
    info = mouse.answer(document)["one_sound_segments"]
    assert near([[each["start"], each["end"]] for each in info], [[2, 4.5], [4, 5]], 0.1), info


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["point", "box"])
def test_a_press_on_a_mark_of_a_picture_that_zooms_chooses_it(hand: Hand, kind: str) -> None:
    document = only(kind, "zoom_picture", "/photo.jpg", labels=LABELS)
    frame = hand.begin(document, f"one_{kind}")
    photo = hand.photo()
    if kind == "box":
        hand.drag(photo, (100, 100), (250, 200))
    else:
        hand.press(*photo.at(175, 150))
    hand.stage.until(lambda: frame.locator(".mark-item").count() == 1)
    hand.press_on(button(hand.field, "Draw"))
    hand.press(*hand.photo().at(175, 150))
    hand.stage.until(lambda: frame.locator(".mark-item.selected").count() == 1)
    hand.press_on(hand.field.locator(".choice", has_text="Boat"))
    assert [mark["label"] for mark in hand.answer(document)[f"one_{kind}"]] == ["boat"]


@pytest.mark.proof
def test_places_and_areas_beside_the_antimeridian_are_where_they_are_or_refused(mouse: Hand) -> None:
    place = {"name": "where", "type": "map_place", "text": "Where?", "on": "ground"}
    area = {"name": "around", "type": "map_area", "text": "All of it?", "on": "ground"}
    ground = {**MAP, "center": [-17, 180], "zoom": 10}
    document = {"version": 1, "steps": [{"name": "all", "media": [ground], "questions": [place, area]}]}
    frame = mouse.begin(document, "where")
    surface, pin = Surface(mouse.stage, frame.locator(".map"), (100, 100)), frame.locator(".map .pin")
    for x in (75, 25):
        mouse.press(*surface.at(x, 50))
        box = mouse.stage.until(lambda: pin.count() and mouse.still(pin.last))
        assert near([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2], [*surface.at(x, 50)]), (x, box)
    mouse.press_on(button(field(frame, "around"), "Draw"))
    for corner in ((60, 60), (90, 60), (75, 80)):
        mouse.press(*surface.at(*corner))
    mouse.press_on(button(field(frame, "around"), "Finish"))
    for corner in ((40, 20), (60, 20), (55, 35)):
        mouse.press(*surface.at(*corner))
    mouse.press_on(button(field(frame, "around"), "Finish"))
    news = "An area cannot cross the 180th meridian. Draw one on each side of it."
    mouse.stage.until(lambda: frame.locator("[data-question=around] .marks-news").inner_text() == news)
    assert frame.locator("[data-question=around] .mark-item").count() == 1
    mouse.press_on(field(frame, "around").locator(".marks-tools").get_by_role("button", name="Delete"))
    mouse.press_on(button(field(frame, "around"), "Draw"))
    surface.click((75, 67))
    surface.drag((60, 60), (40, 60))  # its corner goes back
    mouse.stage.until(lambda: frame.locator("[data-question=around] .marks-news").inner_text() == news)
    surface.drag((90, 60), (85, 60))
    info = mouse.answer(document)
    [east, west] = [each["geometry"]["coordinates"] for each in info["where"]]
    assert -180 < east[0] < -179.5 and 179.5 < west[0] < 180, info
    [ring] = info["around"][0]["geometry"]["coordinates"]
    left, bottom, right = sorted({x for x, _ in ring})
    assert -180 < left < -179.85 and right < -179 and near((right - left) / (bottom - left), 25 / 15, 0.1), ring


APART: Final = """() => {
    const words = document.querySelector(".words:not([hidden])").firstChild, range = document.createRange();
    const lines = [...document.querySelectorAll(".mark .num")].flatMap(({ textContent }) => {
        const text = textContent.slice(1, -1), at = words.data.indexOf(text);
        range.setStart(words, at);
        range.setEnd(words, at + text.length);
        return [...range.getClientRects()];
    });
    const apart = (one, other) => Math.max(...["left", "right", "top"].map((side) => Math.abs(one[side] - other[side])));
    const marks = [...document.querySelectorAll(".r6o-annotation")].map((mark) => mark.getBoundingClientRect());
    return marks.map((mark) => Math.min(...lines.map((line) => apart(mark, line))));
}"""
"""How far each mark in a text is from the nearest line of marked words, in pixels; below, a mark has its line."""


@pytest.mark.proof
@pytest.mark.parametrize("path", ["/letter.txt", "/arabic.txt"])
def test_marks_in_a_text_sit_on_their_words_and_are_seen(hand: Hand, path: str) -> None:
    labels = [{"value": "bright", "text": "Bright", "colour": "#ffffff"}]
    document = only("text_spans", "text", path, labels=labels)
    frame = hand.begin(document, "one_text_spans")
    for _ in range(5):
        hand.press_on(button(hand.field, "Add a mark"))
    hand.stage.until(lambda: frame.locator(".r6o-annotation").count() >= 5)
    apart = frame.evaluate(APART)
    assert max(apart) <= 1, apart
    # A bright colour has a line in another one below, and letters are not covered.
    looks = frame.locator(".r6o-annotation").first.evaluate(
        "mark => [getComputedStyle(mark).boxShadow, getComputedStyle(mark).backgroundColor]"
    )
    assert "0px 1.5px 0px 0px" in looks[0] and float(looks[1].split(",")[-1].rstrip(")")) <= 0.08, looks


@pytest.mark.proof
def test_segments_may_begin_on_others(mouse: Hand) -> None:
    call = {"name": "call", "type": "sound", "description": "An example", "source": {"url": f"{SITE}/call.wav"}}
    document = {"version": 1, "steps": [step("one", call, "sound_segments")]}
    frame = mouse.begin(document, "one_sound_segments")
    line = Surface(mouse.stage, frame.locator(".waves:visible"), (10, 1))
    line.drag((2, 0.7), (4, 0.7))
    line.drag((3.98, 0.7), (6, 0.7))  # from its edge, and inside of it
    line.drag((2.5, 0.7), (3, 0.7))
    mouse.stage.until(lambda: frame.locator(".mark-item").count() == 3)
    info = mouse.answer(document)["one_sound_segments"]
    assert near([[each["start"], each["end"]] for each in info], [[2, 4], [3.98, 6], [2.5, 3]], 0.1), info


@pytest.mark.proof
def test_what_is_typed_after_a_line_was_drawn_is_its_text(hand: Hand) -> None:
    document = only("transcription", "picture", "/photo.jpg")
    frame = hand.begin(document, "one_transcription")
    photo, keyboard = hand.photo(), hand.page.keyboard

    def draw(top: float) -> None:
        hand.drag(photo, (100, top), (600, top + 60))
        hand.stage.until(lambda: hand.focused() == "input")

    draw(50)
    keyboard.type("Light airs")
    keyboard.press("Enter")
    draw(150)  # the box of the empty line
    keyboard.type("Two sails at noon")
    hand.press(*photo.at(700, 500))  # nothing is there
    hand.wait()
    assert hand.focused() in ("input", "h1")
    assert frame.locator(".marks .num").first.inner_text() == "Lines: 2"
    info = hand.answer(document)["one_transcription"]
    assert [each["text"] for each in info] == ["Light airs", "Two sails at noon"]
    assert near([each["y"] for each in info], [50, 150], 4)
