"""What a volunteer waits for, seen in Chromium: first page, first task on a slow line, next task after an answer.

python -m bench.paint [--rounds 5]
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
from crowdd.http import starters

MAX_PAGE, MAX_FIRST, MAX_NEXT = 1000.0, 1500.0, 200.0  # milliseconds
FAST_3G = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8}
# A presenter's frame has a process of its own, which is not on the slow line unless it shares that of its page.
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-features=IsolateSandboxedIframes")
_TASKS = 6
# In each document: when a question was on the screen, with its picture, and when somebody pressed a button.
_WATCH = """
window.shown = {}; window.pressed = 0;
addEventListener("click", () => { pressed = Date.now(); }, true);
(function look() {
  const place = document.getElementById("place"), picture = document.getElementById("picture");
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
    frame.wait_for_function("window.shown && shown['Sample 0']")
    requests = len(asked)
    page.wait_for_load_state("networkidle")  # the second task is there
    frame.click("button[value=Yes]")
    frame.wait_for_function("shown['Sample 1']")
    first, pressed, second = frame.evaluate("[shown['Sample 0'], pressed, shown['Sample 1']]")
    context.close()
    return Waited(painted, first - began, second - pressed, requests)


def set_up(url: str) -> str:
    """The short name of a published project whose presenter is the starter with a picture."""
    owner, source = Person(url).register("owner"), starters.source("picture")
    project = owner.api("POST", "project", {"name": "Sky", "description": "Sky", "info": {"task_presenter": source}})
    for number in range(_TASKS):
        info = {**starters.samples(source)[0], "title": f"Sample {number}"}
        owner.api("POST", "task", {"project_id": project["id"], "info": info, "n_answers": 1000})
    owner.publish(project["short_name"])
    return str(project["short_name"])


def measure(url: str, rounds: int) -> list[Waited]:
    """So many visits, each with a browser that knows nothing; the first is not counted."""
    short_name = set_up(url)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=binary(), args=list(FLAGS))
        try:
            return [visit(chromium, url, short_name) for _ in range(rounds + 1)][1:]
        finally:
            chromium.close()


@click.command()
@click.option("--rounds", default=5, show_default=True)
def main(rounds: int) -> None:
    """Measures, and ends with 1 when a median is above what is promised."""
    with (
        testbed.folder() as place,
        testbed.postgres(place) as postgres,
        testbed.crowdd(postgres.dsn, place) as server,
    ):
        visits = measure(server.url, rounds)
    lines: list[tuple[str, object]] = []
    violations = []
    for words, maximum, taken in (
        ("first page, first paint", MAX_PAGE, [one.page for one in visits]),
        ("first task, Fast 3G", MAX_FIRST, [one.first for one in visits]),
        ("next task after an answer, Fast 3G", MAX_NEXT, [one.next for one in visits]),
    ):
        middle = statistics.median(taken)
        lines.append((words, f"{middle:.0f} ms ({min(taken):.0f} to {max(taken):.0f})"))
        if middle > maximum:
            violations.append(f"{words}: more than {maximum:.0f} ms")
    lines.append(("requests until the first task", visits[-1].requests))
    print(table("What a volunteer waits for", lines, violations))
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
