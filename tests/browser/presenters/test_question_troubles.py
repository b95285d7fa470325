"""Questions when something is missing, slow or very large, and what is kept: nothing hangs, and the volunteer can go on."""

from __future__ import annotations

import json
from typing import Any

import psycopg2
import pytest
from support.questions.marked_lists import SITE, only
from support.questions.marking import answers, ask, button, by_keyboard, field, forward, press, with_media
from support.questions.question_lists import every_form

pytestmark = pytest.mark.browser
FAILED = "This part of the task did not load."
LANGUAGES = [f"{first}{second}" for first in "abcdefghij" for second in "aeiou"]


@pytest.fixture(scope="module")
def desk(make_stage: Any, new_project: Any) -> Any:
    stage = with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))
    stage.mine = new_project(tasks=40)
    headers = {"Access-Control-Allow-Origin": "*"}
    files = {
        "/noise.wav": ("audio/wav", b"RIFF" + bytes(5000)),
        "/long.txt": ("text/plain", ("A word, and 😀. " * 70_000).encode()),
    }
    for path, (kind, body) in files.items():
        stage.context.route(
            SITE + path,
            lambda route, kind=kind, body=body: route.fulfill(body=body, headers=headers | {"Content-Type": kind}),
        )
    stage.context.route(f"{SITE}/none*", lambda route: route.fulfill(status=404, headers=headers))
    stage.context.route(f"{SITE}/never*", lambda _route: None)
    return stage


def medium(kind: str, path: str) -> Any:
    return {"name": "thing", "type": kind, "source": {"url": SITE + path}, "description": "A thing"}


def beside(one: Any, *questions: Any) -> Any:
    return {"version": 1, "steps": [{"name": "look", "media": [one], "questions": list(questions)}]}


NOTE = {"name": "note", "type": "short_text", "text": "What is it?"}
MISSING = [("picture", "/none.jpg"), ("pictures", "/none.jpg"), ("sound", "/noise.wav"), ("video", "/none.webm"), ("text", "/none.txt"),
    ("map", "/none.geojson"), ("map", "/none-{z}-{x}-{y}.png"), ("zoom_picture", "/none.jpg")]  # fmt: skip


@pytest.mark.proof
def test_a_task_whose_medium_is_missing_can_be_answered_and_skipped(desk: Any) -> None:
    for kind, path in MISSING:
        one = medium(kind, path)
        if kind == "pictures":
            one["source"] = [{"url": f"{SITE}/photo.jpg"}, one["source"]]  # one of two is not there
        if "{z}" in path:
            one |= {"tiles": SITE + path, "center": [48.85, 2.35], "zoom": 12}
            del one["source"]
        frame = ask(desk, beside(one, NOTE))
        frame.get_by_text(FAILED).wait_for()
        assert frame.locator(".answers").evaluate("place => place.inert") and desk.page.locator("#skip").is_visible()
        button(frame, "Answer without it").click()
        frame.locator("input").fill(kind)
    before = len(desk.mine.runs())
    forward(frame, "Send")
    assert answers(desk, before + 1, beside(medium(*MISSING[-1]), NOTE))["note"] == "zoom_picture"


@pytest.mark.proof
def test_a_picture_that_never_comes_holds_up_nothing_and_none_before_is_shown(desk: Any) -> None:
    desk.page.clock.install()
    frame = ask(
        desk,
        beside(
            medium("picture", "/never.jpg"),
            NOTE,
            {**only("box", "picture", "/")["steps"][0]["questions"][0], "on": "thing"},
        ),
    )
    frame.get_by_text("Loading…").first.wait_for()
    assert frame.locator("img").evaluate("image => image.naturalWidth") == 0
    assert frame.get_by_text(FAILED).count() == 0
    desk.page.clock.fast_forward(31_000)
    frame.get_by_text(FAILED).wait_for()
    button(frame, "Answer without it").click()
    frame.locator("[data-question=note] input").fill("It does not come")
    desk.page.locator("#skip").click()
    desk.page.locator("#why").get_by_role("button").first.wait_for()


@pytest.mark.proof
def test_the_beginning_of_a_very_long_text_can_be_marked(desk: Any) -> None:
    before = len(desk.mine.runs())
    document = only("text_spans", "text", "/long.txt")
    frame = ask(desk, document)
    field(frame, "one_text_spans").get_by_role("button", name="Add a mark").press("Enter")
    assert frame.evaluate("document.querySelector('.words').textContent.length") == 100_000
    frame.locator(".mark-item").wait_for()
    scrolled, shown = frame.evaluate(
        "(({scrollHeight, clientHeight}) => [scrollHeight, clientHeight])(document.querySelector('.text'))"
    )
    assert scrolled > 10 * shown and shown < 800
    assert frame.locator(".text").get_attribute("tabindex") == "0"
    rest = frame.locator(".text .rest")
    assert rest.inner_text() == "This is the beginning of the text: 100,000 characters. Open the whole text"
    assert rest.get_by_role("link").get_attribute("href") == f"{SITE}/long.txt"
    desk.page.keyboard.press("Shift+ArrowRight")
    frame.locator(".mark").get_by_text("“A word”").wait_for()
    forward(frame, "Send")
    assert answers(desk, before + 1, document)["one_text_spans"][0]["text"] == "A word"


def chain(n: int) -> Any:
    """So many questions, each shown by the ten before it: worked out one by one, that takes 2 to the power of ``n`` steps."""

    def condition(nth: int) -> Any:
        return [{"question": f"q{before}", "is": [True]} for before in range(max(0, nth - 10), nth)] or None

    return [
        {"name": f"q{nth}", "type": "yes_no", "text": f"Is it {nth}?", "show_if": condition(nth)} for nth in range(n)
    ]


@pytest.mark.proof
def test_as_many_questions_choices_and_languages_as_there_may_be(desk: Any) -> None:
    text = {tag: f"Word in {tag}" for tag in LANGUAGES}
    many = {
        "name": "many",
        "type": "single_choice",
        "text": text,
        "choices": [{"value": str(n), "text": str(n)} for n in range(500)],
    }
    frame = ask(desk, beside(medium("picture", "/photo.jpg"), many, *chain(199)))
    assert frame.locator("[data-question]").count() == 200 and frame.locator("[data-question]:visible").count() == 2
    frame.get_by_label("499", exact=True).check()
    for nth in range(30):
        frame.locator(f"[data-question=q{nth}]").get_by_label("Yes").check()
    assert frame.locator("[data-question]:visible").count() == 32
    frame.locator("[data-question=q0]").get_by_label("No").check()
    assert frame.locator("[data-question]:visible").count() == 2
    before = len(desk.mine.runs())
    forward(frame, "Send")
    desk.until(lambda: len(desk.mine.runs()) == before + 1)
    assert desk.mine.runs()[-1]["info"] == {
        "many": "499",
        "q0": False,
        "questions_version": desk.mine.runs()[-1]["info"]["questions_version"],
    }


@pytest.mark.proof
def test_what_was_begun_survives_a_reload_and_a_change_of_the_list(desk: Any) -> None:
    document = every_form()
    frame = ask(desk, document)
    frame.get_by_label("Fox").check()
    frame.get_by_label("Red", exact=True).check()
    frame.get_by_label("Grey", exact=True).check()
    forward(frame)
    frame.locator("[data-question=name] input").fill("Reynard")
    desk.until(lambda: "Reynard" in desk.page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })"))
    desk.page.reload()
    frame = desk.frame()
    frame.wait_for_selector("form.say")
    name = frame.locator("[data-question=name] input")
    name.wait_for()  # it goes on with the step that was shown
    assert name.input_value() == "Reynard"
    forward(frame, "Back")
    assert frame.get_by_label("Fox").is_checked()
    desk.until(lambda: r'"step\":\"look' in desk.page.evaluate("JSON.stringify({ ...sessionStorage })"))
    changed = json.loads(json.dumps(document))
    changed["steps"][0]["questions"][1] = {"name": "colours", "type": "short_text", "text": "Which colours?"}
    desk.mine.show(questions=changed)
    desk.page.reload()
    frame = desk.frame()
    frame.wait_for_selector("form.say")
    assert frame.get_by_label("Fox").is_checked()  # its question is the same
    assert frame.locator("[data-question=colours] input").input_value() == ""  # this one is another


@pytest.mark.proof
def test_marks_outlive_a_broken_line_and_a_lease_that_ended(
    desk: Any, live_server: Any, new_person: Any, new_project: Any
) -> None:
    document, mine = only("box", "picture", "/photo.jpg"), desk.mine
    desk.mine = new_project(tasks=1)
    frame = ask(desk, document)
    by_keyboard(desk, frame, "one_box", "Add a box")
    desk.context.set_offline(True)
    press(desk, frame, "Send")
    desk.until(lambda: desk.page.is_visible("#offline"))
    assert desk.mine.runs() == []
    desk.context.set_offline(False)
    [box] = answers(desk, 1, document)["one_box"]

    desk.mine = new_project(tasks=1, n_answers=1)
    frame = ask(desk, document)
    by_keyboard(desk, frame, "one_box", "Add a box")
    with psycopg2.connect(live_server.dsn, options="-c search_path=public,code") as connection:
        connection.cursor().execute(
            "UPDATE lease SET expires = clock() - interval '1 second' WHERE task_id = ANY (%s)", [desk.mine.tasks]
        )
    connection.close()
    taken = new_person().ask("GET", f"/api/{desk.mine.id}/newtask?limit=2").json
    assert {task["id"] for task in taken} == set(desk.mine.tasks)
    desk.page.evaluate("performance.now = () => 1e9")  # some time has gone by
    desk.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    desk.until(lambda: desk.page.is_visible("#lapsed"))
    press(desk, frame, "Send")
    assert answers(desk, 1, document)["one_box"] == [box]
    desk.mine = mine


def test_a_key_belongs_to_one_question_which_shows_it(desk: Any) -> None:
    labels = [{"value": value, "text": value} for value in ("left", "right")]
    box = {"name": "ears", "type": "box", "text": "Mark the ears.", "on": "thing", "labels": labels}
    choices = [{"value": "fox", "text": "Fox", "key": "1"}, {"value": "owl", "text": "Owl"}]
    one = {"name": "animal", "type": "single_choice", "text": "Which?", "choices": choices}
    frame = ask(desk, beside(medium("picture", "/photo.jpg"), one, box, {**box, "name": "paws"}))
    for name in ("ears", "paws"):
        field(frame, name)
    caps = "caps => caps.map((cap) => [cap.closest('[data-question]').dataset.question, cap.textContent])"

    def shown() -> Any:
        return list(frame.locator("kbd:visible").evaluate_all(caps))

    desk.until(lambda: shown() == [["animal", "1"], ["ears", "2"], ["ears", "3"]])
    button(frame.locator("[data-question=paws]"), "Draw").press("Enter")
    desk.until(lambda: shown() == [["animal", "1"], ["paws", "2"], ["paws", "3"]])
    frame.locator("form h1").focus()
    desk.page.keyboard.press("3")
    desk.until(lambda: frame.locator("[data-question=paws]").get_by_label("right").is_checked())
    assert frame.locator("[data-question=ears]").get_by_label("left").is_checked()
    desk.page.keyboard.press("1")
    desk.until(lambda: frame.get_by_label("Fox").is_checked())


ADD = """(n) => { const add = document.querySelector("[data-question=one_box] .marks-tools button:nth-child(2)");
    const began = performance.now(); for (let at = 0; at < n; at++) add.click(); return performance.now() - began; }"""


CHANGED = """async () => { const seen = [], watch = new MutationObserver((records) => seen.push(...records.flatMap(({ addedNodes }) => [...addedNodes])));
    watch.observe(document, { childList: true, subtree: true });
    document.querySelector("[data-question=one_box] .marks-tools button:nth-child(2)").click();
    for (let frames = 4; frames--;) await new Promise((done) => requestAnimationFrame(done));
    watch.disconnect(); return seen.length; }"""


@pytest.mark.proof
@pytest.mark.parametrize("boxes", [90, 300])
def test_a_box_costs_no_more_beside_many_than_beside_ten(desk: Any, boxes: int) -> None:
    frame = ask(desk, only("box", "picture", "/photo.jpg"))
    field(frame, "one_box")
    line = desk.context.new_cdp_session(frame)
    line.send("Performance.enable")

    def add() -> tuple[float, int]:
        """Milliseconds of the processor, and nodes that were added, for one box more."""
        began, nodes = busy(), frame.evaluate(CHANGED)
        return busy() - began, nodes

    def busy() -> float:
        metrics = line.send("Performance.getMetrics")["metrics"]
        return 1000 * float(next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime"))

    frame.evaluate(ADD, 10)
    few = [add() for _ in range(5)]
    frame.evaluate(ADD, boxes - 15)
    many = [add() for _ in range(5)]
    assert frame.locator(".mark-item").count() == boxes + 5
    assert min(many)[0] < 8 * min(few)[0], (few, many)  # the browser goes over what it need not draw again
    assert many[-1][1] <= few[-1][1] + 5, (few, many)  # nothing of the others is made again


@pytest.mark.proof
@pytest.mark.parametrize("tasks", [6, 20])
def test_nothing_is_left_of_tasks_that_were_answered(desk: Any, new_project: Any, tasks: int) -> None:
    desk.mine = new_project(tasks=40, n_answers=1)
    frame = ask(desk, only("box", "picture", "/photo.jpg"))
    line = desk.context.new_cdp_session(frame)

    def answer(tasks: int) -> None:
        for _ in range(tasks):
            before = frame.inner_text(".over")
            field(frame, "one_box").get_by_role("button", name="Add a box").click()
            button(frame, "Send").click()
            desk.until(lambda: frame.inner_text(".over") != before)  # noqa: B023
        field(frame, "one_box")

    def left() -> int:
        line.send("HeapProfiler.collectGarbage")
        return int(line.send("Memory.getDOMCounters")["nodes"])

    answer(3)
    desk.until(lambda: left() == left())
    few = left()
    answer(tasks)
    desk.until(lambda: left() <= few + 20)  # one task has some 200
