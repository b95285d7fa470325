"""Photos as answers: chosen in the frame, sent in parts with a bar, and there after the line was cut."""

from __future__ import annotations

import io
import random
from typing import Any, Final

import pytest
from PIL import Image
from support.checks.shows import shows
from support.questions.marking import ask, button
from support.questions.question_lists import FILES

pytestmark = [pytest.mark.browser, pytest.mark.proof]
FAST_3G: Final = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}


def photo() -> bytes:
    """A picture of some 3 MB."""
    width, height = 1800, 1300
    noise = Image.frombytes("RGB", (width, height), random.Random(1).randbytes(width * height * 3))
    out = io.BytesIO()
    noise.save(out, "JPEG", quality=96)
    return out.getvalue()


@pytest.fixture(scope="module")
def desk(make_stage: Any, new_project: Any) -> Any:
    stage = make_stage(viewport={"width": 420, "height": 800}, reduced_motion="reduce")
    stage.mine = new_project(tasks=10)
    return stage


def choose(frame: Any, content: bytes, name: str = "fox.jpg", type_: str = "image/jpeg") -> None:
    frame.locator("input[type=file]").set_input_files({"name": name, "mimeType": type_, "buffer": content})


def shares(page: Any) -> list[float]:
    """Which parts of the files the page has said to be sent."""
    return page.evaluate("window.shares")


@shows("answer-files-page")
def test_a_photo_of_3_mb_shows_how_far_it_is_and_survives_a_cut_line(desk: Any) -> None:
    frame, page, content = ask(desk, FILES), desk.page, photo()
    assert 2_500_000 < len(content) < 4_000_000
    page.evaluate(
        "() => { window.shares = []; document.addEventListener('presenter:uploading', ({ detail }) => shares.push(detail.share)); }"
    )
    wire = desk.context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.send("Network.emulateNetworkConditions", FAST_3G)
    choose(frame, content)
    frame.get_by_text("fox.jpg", exact=True).wait_for()
    frame.wait_for_selector(".files img:not([hidden])")
    frame.locator("[data-question=note] input").fill("a fox")
    button(frame, "Send").click()
    page.locator("#uploading").wait_for(state="visible")
    desk.until(lambda: any(share > 0.2 for share in shares(page)))
    wire.send("Network.emulateNetworkConditions", {**FAST_3G, "offline": True})
    page.locator("#offline").wait_for(state="visible")
    before = max(shares(page))
    page.wait_for_timeout(200)
    wire.send("Network.emulateNetworkConditions", FAST_3G)
    (run,) = desk.until(lambda: desk.mine.runs(), 90)
    (file,) = run["info"]["photo"]
    assert (file["kind"], file["type"], run["info"]["note"]) == ("picture", "image/jpeg", "a fox")
    after = shares(page)
    assert after == sorted(after) or min(share for share in after if share >= before) >= before
    assert all(share > 0.05 for share in after[after.index(before) :]), "it did not begin again"
    page.locator("#uploading").wait_for(state="hidden")
