"""What the page says by itself beside the task: it covers nothing, and nothing else moves for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from support.checks.proofs import examples

pytestmark = pytest.mark.browser
SIZES: Final[dict[str, tuple[int, int]]] = {
    "desktop": (1280, 900),
    "small": (1024, 700),
    "phone": (390, 844),
    "narrow": (320, 640),
    "landscape": (844, 390),
}
SAVED: Final = "() => document.dispatchEvent(new CustomEvent('presenter:saved', {detail: {task: 1}}))"
PLACES: Final = """() => Object.fromEntries(["#skip", "#change", ".deck", ".slip", "#presenter iframe"].map((name) => {
    const {x, y, width, height} = document.querySelector(name).getBoundingClientRect(); return [name, [x, y, width, height]]; }))"""
OVER: Final = """() => {  // pairs of things in the line at the bottom that lie over each other, or leave it
    const line = document.querySelector(".deck").getBoundingClientRect();
    const shown = [...document.querySelectorAll(".said > #said, #sign-up > *, #marks > *, #count, #change, #skip")]
        .filter((each) => each.checkVisibility() && each.getBoundingClientRect().width > 1).map((each) => [each.id || each.outerHTML.slice(0, 60), each.getBoundingClientRect()]);
    const out = shown.filter(([, box]) => box.left < line.left || box.right > line.right + .5 || box.top < line.top - .5 || box.bottom > line.bottom + .5);
    const over = shown.flatMap(([name, one], at) => shown.slice(at + 1).filter(([, other]) =>
        one.left < other.right - .5 && other.left < one.right - .5 && one.top < other.bottom - .5 && other.top < one.bottom - .5).map(([other]) => [name, other]));
    return [...out.map(([name]) => name), ...over]; }"""
HIT: Final = """(name) => { const each = document.querySelector(name), {x, y, width, height} = each.getBoundingClientRect();
    return each.contains(document.elementFromPoint(x + width / 2, y + height / 2)); }"""


@pytest.fixture(scope="module", params=SIZES)
def visitor(request: Any, make_stage: Any) -> Iterator[Any]:
    width, height = SIZES[request.param]
    touch = {"has_touch": True, "is_mobile": True} if request.param in ("phone", "narrow", "landscape") else {}
    stage = make_stage(viewport={"width": width, "height": height}, reduced_motion="reduce", **touch)
    yield stage
    stage.context.close()


def open_task(stage: Any, language: str) -> None:
    stage.begin()
    stage.context.add_cookies([{"name": "language", "value": language, "url": stage.witness.url}])
    stage.mine.show(questions={"version": 1, "steps": [{"name": "look", "questions": [
        {"name": f"q{n}", "type": "yes_no", "text": "Is it so?"} for n in range(12)]}]})  # fmt: skip
    stage.go("/project/MINE/newtask")
    stage.frame().wait_for_selector("form.say .over")
    stage.page.evaluate("localStorage.removeItem('sign-up-offer')")


@examples("phone-de")
@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ar"])
def test_the_offer_covers_nothing_and_moves_nothing(visitor: Any, language: str) -> None:
    open_task(visitor, language)
    page = visitor.page
    for _ in range(2):
        page.evaluate(SAVED)
    assert page.is_hidden("#sign-up") and page.is_visible("#change")
    before = page.evaluate(PLACES)
    page.evaluate(SAVED)
    assert page.is_visible("#sign-up a") and page.is_visible("#sign-up-no")
    assert page.evaluate(PLACES) == before
    assert page.evaluate(OVER) == []
    assert all(page.evaluate(HIT, name) for name in ("#skip", "#change", "#sign-up a", "#sign-up-no"))
    assert page.evaluate("document.documentElement.scrollWidth") == page.viewport_size["width"]
    box = page.locator("#sign-up-no").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # Playwright's own click would scroll
    assert page.is_hidden("#sign-up") and page.evaluate(PLACES) == before


@examples("phone")
def test_what_is_said_of_the_answer_does_not_move_the_button_beside_it(visitor: Any) -> None:
    open_task(visitor, "en")
    page = visitor.page
    page.evaluate(SAVED)
    before = page.evaluate(PLACES)
    short = page.viewport_size["width"] < 360  # where only the thanks for many answers takes a third line
    for what in ("idle", "waiting", "again", *(() if short else ("milestone",))):
        page.evaluate(
            "what => document.getElementById('said').textContent = document.getElementById('said').dataset[what]", what
        )
        assert page.evaluate(PLACES) == before, what
