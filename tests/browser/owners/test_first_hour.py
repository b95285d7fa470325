"""The owner's first hour in Chromium: from signing in to the first own answer on own files, published and shared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from first_hour import MAX_CLICKS, MAX_SECONDS, WAYS, Hands, Walked, Way, walk

pytestmark = pytest.mark.browser
PATIENCE = 600.0  # seconds: a whole way on a busy machine
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def walked(live_server: Any, browser: Any, person: Any, way: Way, folder: Path, keyboard: bool, size: Any) -> Walked:
    context = browser.new_context(viewport=size)
    context.set_default_timeout(60_000)  # a busy machine is no failure
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    journey = walk(Hands(page, keyboard), live_server.url, person, way, folder)
    context.close()
    assert wrong == [] and journey.seconds <= MAX_SECONDS
    assert (journey.task_clicks, journey.answer_clicks) == (way.task_clicks, way.answer_clicks)
    assert not way.media or way.task_clicks + way.answer_clicks <= MAX_CLICKS
    return journey


# One with media; the others differ in their media and questions.
@pytest.mark.proof
@pytest.mark.parametrize(
    ("way", "size"),
    [
        pytest.param(way, size, id=way.template)
        for way, size in zip(WAYS, (WIDE, PHONE, WIDE, PHONE, WIDE), strict=True)
    ],
)
def test_a_template_with_own_files(
    live_server: Any, browser: Any, new_person: Callable[[], Any], way: Way, size: Any, tmp_path: Path
) -> None:
    """``make first-hour`` walks each way at both sizes."""
    walked(live_server, browser, new_person(), way, tmp_path, False, size)


@pytest.mark.proof
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_by_keyboard_alone(
    live_server: Any, browser: Any, new_person: Callable[[], Any], tmp_path: Path, size: Any
) -> None:
    walked(live_server, browser, new_person(), WAYS[0], tmp_path, True, size)
