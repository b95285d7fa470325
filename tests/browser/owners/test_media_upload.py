"""An owner drops files onto a page, and each becomes a task; after a cut only what is missing is sent again."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from support.media import picture
from support.until import until_on

pytestmark = pytest.mark.browser
PICTURES = os.environ.get("CROWDD_TEST_PICTURES", "")
"""A folder for pictures of the pages, for people who want to look at them."""


@attrs.frozen
class Draft:
    """A draft and its owner's browser. ``sent``: method and address of each request for a file; ``wrong``: errors."""

    person: Any
    project: Any
    page: Any
    at: str
    sent: list[tuple[str, str]]
    wrong: list[str]

    def look(self, name: str) -> None:
        if PICTURES:
            for theme in ("light", "dark"):
                self.page.emulate_media(color_scheme=theme)
                for width in (1280, 390):
                    self.page.set_viewport_size({"width": width, "height": 900})
                    self.page.screenshot(path=f"{PICTURES}/{name}-{theme}-{width}.png", full_page=True)
            self.page.set_viewport_size({"width": 1280, "height": 900})

    def tasks(self) -> list[dict[str, Any]]:
        rows = self.person.api("GET", "task", project_id=self.project["id"], limit=100)
        return [row["info"] for row in sorted(rows, key=lambda row: row["id"])]

    def done(self) -> None:
        self.page.get_by_role("heading", name="Upload results").wait_for()


@pytest.fixture
def draft(live_server: Any, browser: Any, new_person: Callable[[], Any]) -> Iterator[Draft]:
    person, short = new_person(), f"gate-{uuid.uuid4().hex[:8]}"
    info = {"task_presenter": "<p>x</p>"}
    project = person.api(
        "POST", "project", {"name": short, "short_name": short, "description": "What is it?", "info": info}
    )
    context = browser.new_context()
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(person.cookies(live_server.url))
    page, sent, wrong = context.new_page(), list[tuple[str, str]](), list[str]()
    page.on("request", lambda r: "/files" in r.url and sent.append((r.method, r.url.partition("/tasks/")[2])))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    yield Draft(person, project, page, f"{live_server.url}/project/{short}", sent, wrong)
    context.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a camera and a computer leave it."""
    made = tmp_path / "trip"
    made.mkdir()
    for number, name in enumerate(["12a.jpg", "12b.jpg", "13a.jpg", "13b.jpg", "14.jpg"]):
        (made / name).write_bytes(picture(number))
    (made / ".DS_Store").write_bytes(b"x")
    (made / "notes.txt").write_text("Not a picture.")
    return made


def test_a_folder_becomes_tasks_by_name(draft: Draft, folder: Path) -> None:
    page = draft.page
    page.goto(f"{draft.at}/tasks/import")
    page.get_by_role("link", name="Upload a folder").click()
    page.get_by_role("button", name="Choose a folder").wait_for()
    draft.look("empty")
    page.set_input_files("[data-folder-input]", folder)
    page.get_by_text("1 system file is left out.").wait_for()
    assert page.inner_text("[data-summary]").startswith("6 files")
    groups = page.locator("[data-groups] li").all_inner_texts()
    assert groups[0] == "trip/12a.jpg and trip/12b.jpg become the task trip/12" and len(groups) == 2
    assert "(6 tasks)" in page.inner_text("text=One task for each file")
    page.get_by_label("One task for files that belong together by name").check()
    draft.look("chosen")
    page.get_by_role("button", name="Upload 6 files").click()
    draft.done()
    draft.look("done")
    assert page.get_by_text("Files: 6 = 5 added + 0 already there + 1 refused").is_visible()
    assert page.get_by_role("row", name="trip/notes.txt").is_visible()
    shown = page.locator(".found img").first
    shown.scroll_into_view_if_needed()
    until_on(page, lambda: shown.evaluate("image => image.naturalWidth") == 400)
    infos = draft.tasks()
    assert [(info["filename"], info.get("filename_2")) for info in infos] == [
        ("trip/12a.jpg", "trip/12b.jpg"), ("trip/13a.jpg", "trip/13b.jpg"), ("trip/14.jpg", None),
    ]  # fmt: skip
    assert page.get_by_role("link", name="Try it").first.is_visible() and draft.wrong == []


def test_system_files_are_left_out_and_do_not_hold_up_the_upload(draft: Draft, tmp_path: Path) -> None:
    made = tmp_path / "card"
    made.mkdir()
    for name in ("2.jpg", "10.jpg"):
        (made / name).write_bytes(picture(len(name)))
    for name in (".DS_Store", "Thumbs.db"):
        (made / name).write_bytes(b"x")
    page = draft.page
    page.goto(f"{draft.at}/tasks/import")
    page.get_by_role("link", name="Upload a folder").click()
    page.get_by_role("button", name="Choose a folder").wait_for()
    page.set_input_files("[data-folder-input]", made)
    draft.done()
    assert [info["filename"] for info in draft.tasks()] == ["card/2.jpg", "card/10.jpg"], "in the order of their names"
    assert draft.wrong == []


@pytest.mark.proof
def test_after_a_cut_only_what_is_missing_is_sent(draft: Draft, folder: Path) -> None:
    page = draft.page
    (folder / "big.jpg").write_bytes(picture(9, (3000, 2500), quality=100, subsampling=0) + bytes(9_000_000))
    page.goto(f"{draft.at}/tasks/media")
    page.set_input_files("[data-folder-input]", folder)
    page.get_by_role("button", name="Upload 7 files").wait_for()
    page.route("**/files/*", lambda route: route.abort() if route.request.method == "PATCH" else route.continue_())
    page.get_by_role("button", name="Upload 7 files").click()
    until_on(page, lambda: page.inner_text("[data-figure=done]") == "6" and page.is_visible("[data-pause]"))
    draft.look("sending")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").wait_for()
    page.unroute("**/files/*")
    draft.wrong.clear()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.get_by_role("heading", name="Upload further files").wait_for()
    draft.look("again")
    draft.sent.clear()
    page.set_input_files("[data-folder-input]", folder)  # how tasks are made is known: nothing has to be decided
    draft.done()
    assert {method for method, _ in draft.sent} == {"GET", "HEAD", "PATCH"}, "no file was begun again"
    assert sum(method == "HEAD" for method, _ in draft.sent) == 1
    assert len(draft.tasks()) == 6 and draft.wrong == []
