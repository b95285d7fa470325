"""The owner's first hour: for five templates, from signing in to the first own answer with own files, then shared.

python -m bench.budgets.first_hour [--pictures FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from browser.first_hour import MAX_SECONDS, WAYS, Hands, Walked, Way, walk
from playwright.sync_api import sync_playwright
from support.person import Person
from support.servers.chromium import binary

from bench.support import testbed
from bench.support.figures import table

_FLAGS = ("--no-sandbox", "--disable-gpu", "--in-process-gpu")
WIDE, PHONE = (1280, 900), (390, 844)
_THEMES = ("light", "dark")


def _ways() -> Iterator[tuple[Way, tuple[int, int], bool]]:
    """Each template at both sizes, and the first one by keyboard alone."""
    for way in WAYS:
        yield way, WIDE, False
        yield way, PHONE, False
    yield WAYS[0], WIDE, True


def _looking(page: Any, folder: Path | None, name: str) -> Callable[[str], None]:
    """Draws the page at a step, in both themes."""

    def look(step: str) -> None:
        for theme in _THEMES if folder else ():
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=f"{folder}/{name}-{step}-{theme}.png", full_page=True)

    return look


def walked(url: str, folder: Path | None) -> dict[str, tuple[Way, Walked]]:
    """What each way took, by its name."""
    walks = {}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=binary(), args=list(_FLAGS))
        for number, (way, (width, height), keyboard) in enumerate(_ways()):
            context = chromium.new_context(viewport={"width": width, "height": height})
            page, name = context.new_page(), f"{way.template}-{width}{'-keyboard' if keyboard else ''}"
            person = Person(url).register(f"owner{number}")
            with tempfile.TemporaryDirectory() as files:
                look = _looking(page, folder, name)
                walks[name] = way, walk(Hands(page, keyboard), url, person, way, Path(files), look)
            context.close()
        chromium.close()
    return walks


@click.command()
@click.option("--pictures", type=click.Path(path_type=Path), help="A folder for pictures of each step.")
def main(pictures: Path | None) -> None:
    """Walks, and ends with 1 when a way takes more clicks or seconds than promised."""
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with (
        testbed.folder() as place,
        testbed.postgres(place) as postgres,
        testbed.crowdd(postgres.dsn, place) as server,
    ):
        ways = walked(server.url, pictures)
    lines: list[tuple[str, object]] = [
        (
            name,
            f"{one.task_clicks} clicks to the first task and {one.answer_clicks} for its answer, {one.seconds:.1f} s;"
            f" {one.shared_clicks} clicks until it is shared",
        )
        for name, (_, one) in ways.items()
    ]
    many = [
        (name, way.task_clicks, way.answer_clicks)
        for name, (way, one) in ways.items()
        if one.task_clicks > way.task_clicks or one.answer_clicks > way.answer_clicks
    ]
    slow = [name for name, (_, one) in ways.items() if one.seconds > MAX_SECONDS]
    violations = [
        f"{name}: more than {task} clicks to the task or {answer} for its answer" for name, task, answer in many
    ]
    violations += [f"{name}: more than {MAX_SECONDS:.0f} s" for name in slow]
    print(table("The owner's first hour, from signing in", lines, violations))
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
