"""The page of an import moves while somebody looks at it, and leads on when it is done."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

pytestmark = pytest.mark.browser
ROWS = 60_000  # some seconds of work
# What the page shows at each change, until so many were seen.
WATCH = """(many) => new Promise(done => {
    const place = document.querySelector("[data-import]"), seen = [];
    new MutationObserver(() => {
        seen.push([place.querySelector("progress").value, place.innerText]);
        if (seen.length === many) done(seen);
    }).observe(place, {subtree: true, childList: true, attributes: true});
})"""


@attrs.frozen
class Draft:
    """A draft with a presenter, and its owner's browser. ``asked``: the addresses of imports; ``wrong``: errors."""

    page: Any
    at: str
    asked: list[str]
    wrong: list[str]

    def bring(self, rows: int) -> None:
        """Gives the page a file; a large one is read in the background, and the page leads on by itself."""
        table = "picture\n" + "".join(f"{n}.jpg\n" for n in range(rows))
        self.page.goto(f"{self.at}/tasks/import")
        self.page.set_input_files("#file", {"name": "gate.csv", "mimeType": "text/csv", "buffer": table.encode()})
        self.page.locator("[data-begin]").wait_for()


@pytest.fixture
def draft(live_server: Any, browser: Any, new_person: Callable[[], Any]) -> Iterator[Draft]:
    person, short = new_person(), f"gate-{uuid.uuid4().hex[:8]}"
    info = {"task_presenter": "<p>x</p>"}
    person.api("POST", "project", {"name": short, "short_name": short, "description": "What is it?", "info": info})
    context = browser.new_context()
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(person.cookies(live_server.url))
    page, asked, wrong = context.new_page(), list[str](), list[str]()
    page.on("request", lambda request: "/tasks/import/" in request.url and asked.append(request.url.partition("?")[0]))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    yield Draft(page, f"{live_server.url}/project/{short}", asked, wrong)
    context.close()


@pytest.mark.proof
def test_the_page_moves_by_itself_and_polls_nothing(draft: Draft) -> None:
    draft.bring(ROWS)
    page = draft.page
    page.locator("[data-begin]").click()
    page.locator("[data-import]").wait_for()
    seen = page.evaluate(WATCH, 4)
    values = [value for value, _ in seen]
    assert values == sorted(values) and values[-1] > values[0]
    assert any("rows per second" in words and "rows left" in words for _, words in seen)
    assert page.is_hidden("[data-refresh]")
    page.get_by_role("heading", name="Import results").wait_for()
    assert page.inner_text("#state") == "Done"
    assert page.locator(".figures").first.inner_text().split()[-1] != "" and f"{ROWS:,}" in page.inner_text("main")
    loads = [address for address in draft.asked if address.rpartition("/")[2].isdigit()]
    assert len(loads) <= 6, loads  # loaded when a state ends, and when a form was sent
    assert any(address.endswith("/live") for address in draft.asked) and draft.wrong == []


def test_when_it_is_done_a_draft_is_led_on_to_the_next_step(draft: Draft) -> None:
    draft.bring(3)
    page = draft.page
    page.locator("[data-begin]").click()
    page.get_by_role("heading", name="Import results").wait_for()
    onward = page.locator("main section .btn.main")
    assert onward.inner_text() == "Next: Answers per task"
    onward.click()
    page.wait_for_url("**/tasks/redundancy")
    page.locator(".steps [aria-current=step]", has_text="Answers per task").wait_for()
    main = page.inner_text("main")
    assert "3 tasks × 5 answers = 15 answers" in main and main.count("Most projects choose 3 to 10.") == 1
    for step, address in (("Who sees answers", "settings#visibility"), ("Try it", "newtask"), ("Publish", "publish")):
        page.get_by_role("link", name=f"Next: {step}").click()
        page.wait_for_url(f"**/{address}")
    assert draft.wrong == []
