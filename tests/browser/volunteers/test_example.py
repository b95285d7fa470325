"""The example as it is loaded at the first start: twenty answers by keyboard, without an account."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from support.servers.live import BIN
from support.until import until_on

pytestmark = pytest.mark.browser

EXAMPLE = Path(__file__).parents[3] / "examples" / "digits"
ANSWERS = "0123456789" * 2


def stored(dsn: str) -> list[tuple[int, int]]:
    """Task and digit of each answer to the example, in the order they came."""
    with contextlib.closing(psycopg2.connect(dsn)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.task_id, (r.info->>'digit')::int FROM task_run r JOIN project p ON p.id = r.project_id"
            " WHERE p.short_name = 'digits' AND r.counted ORDER BY r.id"
        )
        return cursor.fetchall()


@pytest.mark.proof
def test_twenty_answers_by_keyboard_are_all_in_the_database(browser: Any, live_server: Any) -> None:
    command = [BIN / "crowdctl", "project", "load", EXAMPLE, "--publish"]
    subprocess.run(command, env=live_server.environment, cwd=live_server.data, check=True, capture_output=True)
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{live_server.url}/project/digits/newtask", timeout=60_000)
    until_on(page, lambda: len(page.frames) == 2)
    frame = page.frames[1]
    before = {""}
    for number, key in enumerate(ANSWERS, start=1):
        until_on(
            page,
            lambda: frame.inner_text("#place").strip() not in before,
            seen=lambda: (frame.inner_text("body"), page.inner_text("body")),
        )
        before.add(frame.inner_text("#place").strip())
        page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before
        page.keyboard.press(key)
        until_on(page, lambda number=number: page.inner_text("#count") == str(number))
    context.close()
    answers = stored(live_server.dsn)
    assert [digit for _, digit in answers] == [int(key) for key in ANSWERS]
    assert len({task for task, _ in answers}) == 20
