"""Five projects from upload to the page of results in Chromium, as an owner and volunteers would walk them.

Letters, a survey, places on a map, boxes and sounds: what each volunteer does is written down when it is done, and what
the page says is compared with what is counted from that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.first_hour import Hands, walk
from browser.five_projects import STORIES, Json, Story
from python_calamine import CalamineWorkbook
from support.until import until_on

pytestmark = [pytest.mark.browser, pytest.mark.proof]
PATIENCE = 900.0  # seconds: a whole project on a busy machine
LOOKS = (("de-DE", "light"), ("de-DE", "dark"), ("en-GB", "light"), ("en-GB", "dark"))
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PICTURES = os.environ.get("CROWDD_PICTURES")
"""A folder for pictures of the pages, for people who want to look at them."""

_SHOWN = """() => {
  const words = (place) => place.textContent.replace(/\\s+/g, " ").trim();
  const page = document.querySelector("main").textContent;
  const rows = (place) => [...place.querySelectorAll("tbody tr")].map((row) => [...row.children].map(words));
  return {
    figures: Object.fromEntries([...document.querySelectorAll("main dl.figures > div")].map(({ children: [name, figure] }) => [words(name), words(figure)])),
    questions: Object.fromEntries([...document.querySelectorAll(".ask-of:not(#cross)")].map((part) => [words(part.querySelector("h2")), { rows: rows(part), words: words(part) }])),
    raw: page.match(/\\(?(?:geometry|coordinates|selector|x|label): [^\\n]*/g) ?? [],
    broken: [...document.images].filter((image) => image.complete && !image.naturalWidth).map(({ src }) => src),
    texts: [...document.querySelectorAll(".ask-of ul.words li")].map(words),
    tasks: [...document.querySelectorAll(".outcomes > li")].map((task) => ({ lines: [...task.querySelectorAll("ol.said li")].map(words), words: words(task) })),
  };
}"""


class Site:
    """The project of a story, its owner, and the browsers of all who take part."""

    def __init__(self, browser: Any, url: str, new_person: Callable[[], Any]) -> None:
        self.browser, self.url, self.new_person = browser, url, new_person
        self.owner, self.wrong, self.contexts = new_person(), list[str](), list[Any]()
        self.name, self.at, self.project = "", "", dict[str, Any]()

    def page(self, person: Any = None, **options: Any) -> Any:
        context = self.browser.new_context(**{"viewport": WIDE, **options})
        context.set_default_timeout(60_000)  # a busy machine is no failure
        self.contexts.append(context)
        if person is not None:
            context.add_cookies(person.cookies(self.url))
        page = context.new_page()
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        return page

    def publish(self, story: Story, folder: Path) -> None:
        page = self.page()
        made = walk(Hands(page), self.url, self.owner, story.way, folder, lambda step: self.look(page, step))
        self.project, self.at = made.project, f"{self.url}/project/{made.project['short_name']}"
        page.context.close()

    def take_part(self, story: Story, person: Any, number: int) -> list[Json]:
        """What a volunteer means; what is stored of it is the same."""
        page, done = self.page(person), list[Json]()
        page.goto(f"{self.at}/newtask")
        frame = page.frame_locator("#presenter iframe")
        for nth in range(story.tasks):
            frame.locator("form.say").wait_for()
            done.append(story.act(Hands(page), frame, number, nth))
            page.locator("#count", has_text=str(nth + 1)).wait_for()
        infos = until_on(page, lambda: self.stored(person, story.tasks))
        page.context.close()
        for info, meant in zip(infos, done, strict=True):
            assert story.stored(info, meant), (info, meant)
        return done

    def stored(self, person: Any, tasks: int) -> list[Json] | None:
        user = person.profile()["user"]["id"]
        rows = self.owner.api("GET", "taskrun", project_id=self.project["id"], user_id=user, limit=100)
        return [row["info"] for row in sorted(rows, key=lambda row: row["id"])] if len(rows) == tasks else None

    def results(self, person: Any = None) -> Any:
        """The page of results as soon as all answers are compared."""
        page = self.page(person)

        def is_settled() -> bool:
            page.goto(f"{self.at}/results")
            return page.locator(".ask-of").count() > 0 and "being compared" not in page.inner_text("main")

        until_on(page, is_settled, seen=lambda: page.inner_text("main"))
        return page

    def look(self, page: Any, name: str) -> None:
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/{self.name}-{name}.png", full_page=True)

    def look_at(self, path: str, name: str) -> None:
        """Pictures in two languages, light and dark, wide and on a phone."""
        me = self.owner.profile()["user"]["id"]
        for locale, theme in LOOKS:
            self.owner.api("PUT", f"user/{me}", {"locale": locale[:2]})  # before what a browser asks for
            page = self.page(self.owner, locale=locale, color_scheme=theme)
            page.goto(f"{self.at}{path}")
            assert page.locator("html").get_attribute("lang") == locale[:2]
            for size in (WIDE, PHONE):
                page.set_viewport_size(size)
                self.look(page, f"{name}-{locale[:2]}-{theme}-{size['width']}")
            page.context.close()


@pytest.fixture
def site(live_server: Any, browser: Any, new_person: Callable[[], Any]) -> Iterator[Site]:
    made = Site(browser, live_server.url, new_person)
    yield made
    for context in made.contexts:
        context.close()


@pytest.mark.parametrize("name", [*STORIES])
def test_the_results_say_what_volunteers_meant(site: Site, tmp_path: Path, name: str) -> None:
    site.name, story = name, STORIES[name]
    site.publish(story, tmp_path)
    meant = [site.take_part(story, site.new_person(), number) for number in range(story.people)]
    opinions = name == "survey"
    if opinions:
        assert "The answers are not public" in site.page().goto(f"{site.at}/results").text()
    page = site.results(site.owner if opinions else None)
    shown, wanted = page.evaluate(_SHOWN), story.says(meant)
    if PICTURES:
        site.look_at("/results", "results")
        task = site.owner.api("GET", "task", project_id=site.project["id"])[0]["id"]
        site.look_at(f"/tasks/{task}", "task")
        site.look_at("/tasks/export", "export")
    assert shown["raw"] == [] and shown["broken"] == []
    assert shown["figures"]["people"] == str(story.people)
    if opinions:
        assert shown["figures"]["answers"] == str(story.tasks * story.people)
        assert "tasks with a result" not in shown["figures"] and "agreement" not in page.inner_text("main").lower()
    else:
        assert shown["figures"]["tasks with a result"] == str(story.tasks)
        assert shown["figures"]["answers compared"] == str(story.tasks * story.people)
    assert [*shown["questions"]] == [*wanted["questions"]]
    for question, rows in wanted["questions"].items():
        if rows is not None:
            assert [figures_of(row) for row in shown["questions"][question]["rows"]] == rows, question
    compare_more(shown, wanted)
    compare_workbook(site, story, tmp_path)
    assert site.wrong == []


def figures_of(row: list[str]) -> list[str]:
    """What a row says and how many say it; between them a bar is drawn, and after them stands a share."""
    filled = [cell for cell in row if cell]
    return [filled[0], filled[1].split()[0]]


def compare_more(shown: Json, wanted: Json) -> None:
    """Lines of letters, free texts, places on the map, and how many marks each task has."""
    if "lines" in wanted:
        assert sorted(task["lines"] for task in shown["tasks"]) == sorted(wanted["lines"])
    assert sorted(shown["texts"]) == wanted.get("texts", [])
    if "places" in wanted:
        rows = next(iter(shown["questions"].values()))["rows"]
        drawn = sorted([float(part.strip(" °")) for part in row[0].split(",")] for row in rows)
        for place, expected in zip(drawn, wanted["places"], strict=True):
            assert place == pytest.approx(expected, abs=0.0006)
    if "marks" in wanted:
        numbers = [int(n) for task in shown["tasks"] for n in re.findall(r"(\d+) (?:box|marked part)", task["words"])]
        assert numbers == wanted["marks"][::-1], "the newest first"


def compare_workbook(site: Site, story: Story, folder: Path) -> None:
    """The workbook that an owner takes along: each answer is a row that says which task it is about."""
    page = site.page(site.owner)
    page.goto(f"{site.at}/tasks/export")
    with page.expect_download() as waited:
        page.get_by_role("link", name="Excel (XLSX)").first.click()
    path = folder / "all.xlsx"
    waited.value.save_as(path)
    book = CalamineWorkbook.from_path(str(path))
    sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    assert len(sheets["Answers"]) == 1 + story.people * story.tasks and len(sheets["Tasks"]) == 1 + story.tasks
    heading, *answers = sheets["Answers"]
    about = [nth for nth, cell in enumerate(heading) if cell in ("Task: filename", "Task: text")]
    assert about and all(answer[about[0]] for answer in answers)
    cells = [cell for name in ("Results", "Answers") for row in sheets[name] for cell in row if isinstance(cell, str)]
    assert not any(cell.startswith("[{") for cell in cells)
