"""What owners do day by day, in Chromium: bringing a file to the end, and the buttons of a webhook."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.servers.receiver import Receiver
from support.until import until_on

pytestmark = pytest.mark.browser
ROWS = "picture,many,gate\n" + "".join(f"/g/{n}.jpg,{'x' if n == 2 else 3},north\n" for n in range(40))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def owned(browser: Any, live_server: Any, new_person: Callable[[], Any]) -> Iterator[tuple[Any, Any, str]]:
    """An owner, the page of a browser, and the address of the project."""
    person, short = new_person(), f"days-{uuid.uuid4().hex[:8]}"
    person.api("POST", "project", {"name": short, "short_name": short, "description": "What is it?"})
    context = browser.new_context()
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(person.cookies(live_server.url))
    yield person, context.new_page(), f"{live_server.url}/project/{short}"
    context.close()


def press(page: Any, words: str) -> None:
    page.get_by_role("main").get_by_role("button", name=words, exact=True).click()


def seen_again(page: Any, selector: str, words: str) -> None:
    """Reloads until it says so: what is waited for happens without the page."""

    def said() -> str:
        return str(page.locator(selector).first.inner_text())

    until_on(page, lambda: words in said() or (page.reload() and words in said()), seen=said)


def test_a_file_is_brought_to_the_end_and_its_errors_are_downloaded(owned: Any) -> None:
    person, page, at = owned
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{at}/tasks/import")
    page.set_input_files("#file", {"name": "gate.csv", "mimeType": "text/csv", "buffer": ROWS.encode()})
    page.get_by_role("heading", name="gate.csv").wait_for()
    assert page.locator("table.map tbody tr").count() == 5
    page.get_by_label("many", exact=True).select_option(label="Answers per task")
    page.get_by_label("gate", exact=True).select_option(label="Leave out")
    page.get_by_role("button", name="Update preview").last.click()
    page.get_by_label("Skip the refused row").check()
    press(page, "Add 39 tasks")
    page.get_by_role("heading", name="Import results").wait_for()  # the page follows by itself
    figures = page.locator("dl.figures").first.inner_text().split()
    assert figures[figures.index("refused") + 1] == "1" and "39" in figures, figures
    with page.expect_download() as waited:
        page.get_by_role("link", name="Download the refused rows").click()
    rows = list(csv.DictReader(io.StringIO(Path(waited.value.path()).read_text("utf-8-sig"))))
    assert [(row["line"], row["reason"]) for row in rows] == [("4", "`n_answers` is not an integer.")]
    project = person.api("GET", "project", short_name=at.rpartition("/")[2])[0]["id"]
    made = person.api("GET", "task", project_id=project, limit=100)
    assert len(made) == 39 and made[0]["info"] == {"picture": "/g/0.jpg"} and made[0]["n_answers"] == 3
    assert wrong == []


@pytest.mark.proof
def test_the_buttons_of_a_webhook_are_pressed(owned: Any, receiver: Receiver) -> None:
    _person, page, at = owned
    receiver.behave = lambda request: 500
    page.goto(f"{at}/webhook")
    page.get_by_label("Address").fill(receiver.url)
    press(page, "Save")
    page.get_by_text("The address is saved.").wait_for()
    press(page, "Send a test")
    page.get_by_text("A test event is being sent.").wait_for()
    delivery = page.url.partition("?")[0]
    seen_again(page, "main", "500")
    receiver.behave = lambda request: 204
    press(page, "Retry delivery")
    page.get_by_text("The event is being sent again.").wait_for()
    seen_again(page, "main", "Delivered")
    assert {request.json["event"] for request in receiver.taken} == {"ping"}  # it is tried again by itself, too
    page.goto(f"{at}/webhook")
    assert page.locator("table[data-rows] tbody tr").count() == 1
    page.get_by_role("link", name="Test").click()
    page.wait_for_url(delivery)
    page.goto(f"{at}/webhook")
    press(page, "Create a new secret")
    page.get_by_text("The webhook has a new secret.").first.wait_for()
