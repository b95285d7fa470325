"""A newcomer's walk in Chromium, from the first page to the results: clicks and seconds of each stage.

python -m bench.budgets.walk [--pictures FOLDER]
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import click
from PIL import Image
from playwright.sync_api import FilePayload, sync_playwright
from support.servers.chromium import binary

from bench.support import testbed
from bench.support.figures import table

MAX_CLICKS, MAX_SECONDS = 8, 180.0  # from "Start a project" to the first own answer; of everything
_FLAGS = ("--no-sandbox", "--disable-gpu")
_PASSWORD = "a-long-password-1"
_SIZES = ((1280, 900), (390, 844))


@attrs.define
class Walk:
    """A browser, and what was pressed and how long it took in each stage."""

    page: Any
    url: str
    folder: Path | None
    stages: dict[str, tuple[int, float]] = attrs.field(factory=dict)
    clicks: int = 0

    def press(self, role: str, name: str, place: Any = None) -> None:
        """A click on a button or a link of this name."""
        (place or self.page).get_by_role(role, name=name, exact=True).first.click()
        self.clicks += 1

    def stage(self, name: str, walk: Callable[[Walk], None]) -> None:
        """Walks one stage and notes it; with a folder, its last page is drawn in both widths and themes."""
        self.clicks, began = 0, time.monotonic()
        walk(self)
        self.stages[name] = self.clicks, time.monotonic() - began
        for width, height in _SIZES if self.folder else ():
            for theme in ("light", "dark"):
                self.page.set_viewport_size({"width": width, "height": height})
                self.page.emulate_media(color_scheme=theme)
                path = f"{self.folder}/{len(self.stages):02}-{name.replace(' ', '-')}-{width}-{theme}.png"
                self.page.screenshot(path=path, full_page=True)
        self.page.set_viewport_size({"width": _SIZES[0][0], "height": _SIZES[0][1]})
        self.page.emulate_media(color_scheme="light")


def _picture(number: int) -> FilePayload:
    """A photograph of a moth, as a browser sends it."""
    file = io.BytesIO()
    Image.new("RGB", (640, 480), (40 + 30 * number, 90, 60)).save(file, "JPEG")
    return {"name": f"moth-{number}.jpg", "mimeType": "image/jpeg", "buffer": file.getvalue()}


def arrive(walk: Walk) -> None:
    walk.page.goto(walk.url)


def sign_up(walk: Walk) -> None:
    page = walk.page
    walk.press("link", "Start a project", page.get_by_role("navigation", name="Site"))
    walk.press("link", "Create an account", page.get_by_role("main"))
    fields = {"fullname": "Olga Owner", "name": "olga", "email_addr": "olga@example.org"}
    for name, value in {**fields, "password": _PASSWORD, "confirm": _PASSWORD}.items():
        page.fill(f"#{name}", value)
    walk.press("button", "Create account", page.get_by_role("main"))
    page.wait_for_url("**/project/new")


def create(walk: Walk) -> None:
    walk.page.fill("#name", "Moths by night")
    walk.page.fill("#description", "Which moth is this?")
    walk.press("button", "Create the project")
    walk.press("button", "Start with an example")
    walk.press("button", "Save and add tasks")
    walk.page.wait_for_url("**/tasks/media")


def add_tasks(walk: Walk) -> None:
    walk.page.set_input_files("#files", [*map(_picture, range(6))])
    walk.clicks += 1  # the files; they are sent at once
    walk.page.get_by_role("heading", name="Upload results").wait_for()


def choose(walk: Walk) -> None:
    for step in ("Answers per task", "Who sees answers"):
        walk.press("link", f"Next: {step}", walk.page.get_by_role("main"))
    walk.page.wait_for_url("**/settings#visibility")


def try_it(walk: Walk) -> None:
    walk.press("link", "Next: Try it")
    answer(walk)


def answer(walk: Walk) -> None:
    walk.page.frame_locator("#presenter iframe").get_by_role("button", name="Something").click()
    walk.clicks += 1
    walk.page.locator("#count", has_text="1").wait_for()


def publish(walk: Walk) -> None:
    walk.press("link", "Next: Publish")
    walk.press("button", "Publish")
    walk.page.get_by_role("heading", name="Share this project").wait_for()
    walk.page.locator("svg.qr").wait_for()


def take_part(walk: Walk) -> None:
    """Somebody without an account comes by the link."""
    walk.page.context.clear_cookies()
    walk.page.goto(f"{walk.url}/project/moths-by-night/")
    walk.press("link", "Start")
    answer(walk)


def see_results(walk: Walk) -> None:
    walk.page.goto(f"{walk.url}/project/moths-by-night/results")
    walk.page.get_by_role("heading", level=1).wait_for()


STAGES: dict[str, Callable[[Walk], None]] = {
    "first page": arrive,
    "sign up": sign_up,
    "create": create,
    "add tasks": add_tasks,
    "choose answers and visibility": choose,
    "try it": try_it,
    "publish and share": publish,
    "volunteer": take_part,
    "results": see_results,
}
_OWN_ANSWER = ("create", "add tasks", "choose answers and visibility", "try it")
_SKIPPED = {
    "choose answers and visibility"
}  # both steps can be left out: the page of the import leads to "Try it", too


def walked(url: str, folder: Path | None) -> dict[str, tuple[int, float]]:
    """Clicks and seconds of each stage."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=binary(), args=list(_FLAGS))
        page = chromium.new_context(viewport={"width": _SIZES[0][0], "height": _SIZES[0][1]}).new_page()
        walk = Walk(page, url, folder)
        for name, stage in STAGES.items():
            walk.stage(name, stage)
        chromium.close()
    return walk.stages


@click.command()
@click.option("--pictures", type=click.Path(path_type=Path), help="A folder for pictures of each stage's last page.")
def main(pictures: Path | None) -> None:
    """Walks, and ends with 1 when it takes more clicks or seconds than promised."""
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with (
        testbed.folder() as place,
        testbed.postgres(place) as postgres,
        testbed.crowdd(postgres.dsn, place) as server,
    ):
        stages = walked(server.url, pictures)
    own = sum(stages[name][0] for name in _OWN_ANSWER if name not in _SKIPPED)
    seconds = sum(taken for _, taken in stages.values())
    lines: list[tuple[str, object]] = [(name, f"{n} clicks, {taken:.1f} s") for name, (n, taken) in stages.items()]
    lines += [
        ("create to first own answer, without the steps to leave out", f"{own} clicks"),
        ("all", f"{seconds:.1f} s"),
    ]
    violations = [f"more than {MAX_CLICKS} clicks to the first own answer"] if own > MAX_CLICKS else []
    violations += [f"more than {MAX_SECONDS:.0f} s"] if seconds > MAX_SECONDS else []
    print(table("A newcomer's walk", lines, violations))
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
