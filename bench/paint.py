"""What a volunteer waits for, seen in Chromium: first page, first task on a slow line, next task after an answer.

python -m bench.paint [--rounds 5] [--few]
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

import attrs
import click
from playwright.sync_api import sync_playwright
from support.person import Person
from support.servers.chromium import binary

from bench.support import testbed
from bench.support.figures import table
from crowdd.features.projects import starters

MAX_PAGE, MAX_FIRST, MAX_NEXT = 1000.0, 1500.0, 200.0  # milliseconds
FAST_3G = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8}
# A presenter's frame has a process of its own, which is not on the slow line unless it shares that of its page.
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-features=IsolateSandboxedIframes")
_TASKS = 60
QUESTIONS: dict[str, Any] = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "media": [{"name": "photo", "type": "picture", "source": {"column": "picture"}}],
            "questions": [
                {
                    "name": "seen",
                    "type": "single_choice",
                    "text": "What do you see?",
                    "required": True,
                    "unsure": True,
                    "choices": [{"value": value, "text": value} for value in ("Yes", "No")],
                }
            ],
        }
    ],
}
"""A picture with buttons, as the starter has it."""
# In each document: when a question was on the screen, with its picture, and when somebody pressed a button.
_WATCH = """
window.shown = {}; window.pressed = 0;
addEventListener("click", () => { pressed = Date.now(); }, true);
(function look() {
  const place = document.querySelector("#place, form.say > .over");
  const picture = document.querySelector("#picture, .picture > img");
  const title = place && picture && picture.complete && picture.naturalWidth && place.textContent.trim();
  if (title && !shown[title]) shown[title] = Date.now();
  requestAnimationFrame(look);
})();
"""
_PAINTED = """() => new Promise(done => new PerformanceObserver((list) => done(list.getEntries()[0].startTime))
  .observe({type: "paint", buffered: true}))"""


@attrs.frozen
class Waited:
    """Milliseconds of one visit; ``page`` is the site's first page on the line as it is."""

    page: float
    first: float
    next: float
    requests: int


def visit(chromium: Any, url: str, short_name: str) -> Waited:
    """Somebody new looks at the first page, and begins with the project over a slow line."""
    context = chromium.new_context()
    context.add_init_script(_WATCH)
    page = context.new_page()
    page.goto(url)
    painted = page.evaluate(_PAINTED)
    line = context.new_cdp_session(page)
    line.send("Network.enable")
    line.send("Network.clearBrowserCache")
    line.send("Network.emulateNetworkConditions", FAST_3G)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{url}/project/{short_name}/newtask", wait_until="commit")
    began = page.evaluate("performance.timeOrigin")
    frame = page.wait_for_selector("#presenter iframe").content_frame()
    frame.wait_for_function("window.shown && Object.keys(shown).length")  # other visitors may have the first one
    requests = len(asked)
    page.wait_for_load_state("networkidle")  # the second task is there
    frame.click("button.answer")
    frame.wait_for_function("Object.keys(shown).length > 1")
    first, second, pressed = frame.evaluate("[...Object.values(shown), pressed]")
    context.close()
    return Waited(painted, first - began, second - pressed, requests)


def set_up(owner: Person, name: str, info: dict[str, Any]) -> str:
    """The short name of a published project of tasks with a picture each."""
    project = owner.api("POST", "project", {"name": name, "description": name, "info": info})
    sample = starters.samples(starters.source("picture") or "")[0]
    for number in range(_TASKS):
        task = {**sample, "title": f"Sample {number}"}
        owner.api("POST", "task", {"project_id": project["id"], "info": task, "n_answers": 1000})
    owner.publish(project["short_name"])
    return str(project["short_name"])


def measure(url: str, rounds: int) -> dict[str, list[Waited]]:
    """So many visits to each kind of project, with a browser that knows nothing; the first is not counted."""
    owner, source = Person(url).register("owner"), starters.source("picture")
    names = {
        "starter": set_up(owner, "Sky", {"task_presenter": source}),
        "questions": set_up(owner, "Clouds", {"questions": QUESTIONS}),
    }
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=binary(), args=list(FLAGS))
        try:
            return {kind: [visit(chromium, url, name) for _ in range(rounds + 1)][1:] for kind, name in names.items()}
        finally:
            chromium.close()


@click.command()
@click.option("--rounds", default=5, show_default=True)
@click.option("--few", is_flag=True, help="Two rounds.")
def main(rounds: int, few: bool) -> None:
    """Measures, and ends with 1 when a median is above what is promised."""
    rounds = 2 if few else rounds
    with (
        testbed.folder() as place,
        testbed.postgres(place) as postgres,
        testbed.crowdd(postgres.dsn, place) as server,
    ):
        visits = measure(server.url, rounds)
    lines: list[tuple[str, object]] = []
    violations = []
    for kind, measurements in visits.items():
        for words, maximum, taken in (
            (f"{kind}: first page, first paint", MAX_PAGE, [one.page for one in measurements]),
            (f"{kind}: first task, Fast 3G", MAX_FIRST, [one.first for one in measurements]),
            (f"{kind}: next task after an answer, Fast 3G", MAX_NEXT, [one.next for one in measurements]),
        ):
            middle = statistics.median(taken)
            lines.append((words, f"{middle:.0f} ms ({min(taken):.0f} to {max(taken):.0f})"))
            if middle > maximum:
                violations.append(f"{words}: more than {maximum:.0f} ms")
        lines.append((f"{kind}: requests until the first task", measurements[-1].requests))
    print(table("What a volunteer waits for", lines, violations))
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
