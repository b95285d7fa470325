"""Pictures of our pages, to be looked at: ``python -m browser.pictures`` (make pictures) draws those of docs/images.

make pictures                       the pictures that the documentation shows, into docs/images
make pictures TO=/tmp/pictures      every page, 1280 and 390 wide, light and dark, and volunteers at work
make pictures TO=/tmp/p ONLY=admin  those whose template begins so, in each of their states
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright
from support.checks.page_contexts import Case, cases, plain_cases
from support.person import Person
from support.servers.chromium import binary

sys.path.insert(0, str(Path(__file__).parent))  # as pytest has it
import scenes
from gallery import SERVER, Gallery

from bench.support import testbed

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDE, PHONE = (1280, 800), (390, 844)
SCALE = 2  # of a phone's screen
PATIENCE = 180_000  # milliseconds: a busy machine may take long to draw a long page


class Picture(NamedTuple):
    """A page as somebody sees it."""

    name: str
    case: Case
    size: tuple[int, int]
    theme: str
    whole: bool = False


CHOSEN = (
    ("owner/new", "project/new.html", "first", WIDE, "light"), ("owner/columns", "project/import_one.html", "columns", WIDE, "light"),
    ("owner/publishing", "project/publish.html", "missing", WIDE, "light"), ("owner/stats", "project/stats.html", "visitor", WIDE, "light"),
)  # fmt: skip


def chosen() -> Iterator[Picture]:
    """The pages that docs/images shows."""
    known = {(case.template, case.kind): case for case in cases()}
    for name, template, kind, size, theme in CHOSEN:
        case = known.get((template, kind)) or next(case for case in cases() if case.template == template)
        yield Picture(name, case, size, theme)


def every(only: str) -> Iterator[Picture]:
    """The first case of each page at both widths in both themes; all cases of the pages that begin with ``only``."""
    plain = [case for case in plain_cases() if case.template.startswith(only)]
    shown = plain if only else list({case.template: case for case in reversed(plain)}.values())
    for nth, case in enumerate(sorted(shown, key=lambda case: case.template)):
        name = case.template.removesuffix(".html").replace("/", "-") + (f"-{nth:03}" if only else "")
        for size in (WIDE, PHONE):
            for theme in ("light", "dark"):
                yield Picture(f"{name}-{size[0]}-{theme}", case, size, theme, whole=True)


def draw(browser: Any, picture: Picture, folder: Path) -> Path:
    """Writes the picture, in as few colours as a page has, so that it stays small."""
    phone = picture.size == PHONE
    screen = _screen(picture.size, SCALE if phone and not picture.whole else 1)
    context = browser.new_context(**screen, color_scheme=picture.theme)
    gallery = Gallery(context.new_page())
    gallery.page.route(lambda url: not url.startswith(SERVER.url), _stay)
    page = gallery.show(picture.case._replace(context=picture.case.context | {"theme": picture.theme}))
    path = _save(page, folder / f"{picture.name}.png", picture.whole)
    context.close()
    return path


def _stay(route: Any) -> None:
    """Refuses to leave for another site, as the page that leads to a sign-in provider does while it is drawn."""
    route.abort("aborted")


def _screen(size: tuple[int, int], scale: int = 1) -> dict[str, Any]:
    return {"viewport": {"width": size[0], "height": size[1]}, "device_scale_factor": scale}


def _save(page: Any, path: Path, whole: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    shot = Image.open(io.BytesIO(page.screenshot(full_page=whole, timeout=PATIENCE)))
    shot.convert("RGB").quantize(128).save(path, "PNG", optimize=True)
    return path


def shown_in_docs(browser: Any, folder: Path) -> Iterator[Path]:
    """The pictures of docs/images that need a server: the task of the example, and the editor."""
    with running() as server:
        owner = Person(server.url).register("kittiwake")
        example = owner.ask("POST", "/project/new/example", {}, X_CSRFToken=owner.csrf()).json["next"]
        editor = f"/project/{scenes.project(owner, 'picture')}/tasks/taskpresentereditor"
        context = browser.new_context(**_screen(WIDE))
        context.add_cookies([{"name": c.name, "value": c.value, "url": server.url} for c in owner.jar])
        for name, path in (("task/task", f"{example.rstrip('/')}/newtask"), ("owner/editor", editor)):
            page = context.new_page()
            page.goto(server.url + path)
            scenes.frame_of(page)
            yield _save(page, folder / f"{name}.png", whole=name == "owner/editor")
        context.close()


def play(browser: Any, folder: Path) -> Iterator[Path]:
    """Pictures of a volunteer at work."""
    screens = {"wide": _screen(WIDE), "phone": _screen(PHONE, SCALE) | {"has_touch": True, "is_mobile": True}}
    with running() as server:
        for scene, page in scenes.played(browser, server.url, scenes.projects(server.url), **screens):
            yield _save(page, folder / "task" / f"{scene.name}.png")


@contextlib.contextmanager
def running() -> Iterator[Any]:
    """A server of its own."""
    with testbed.folder() as place, testbed.postgres(place) as postgres, testbed.crowdd(postgres.dsn, place) as server:
        yield server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=None, help="a folder for every page; without it the chosen ones")
    parser.add_argument("--only", default="", help="the beginning of the templates' names")
    arguments = parser.parse_args()
    folder = arguments.to or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    executable = binary()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        pictures, more = (every(arguments.only), play) if arguments.to else (chosen(), shown_in_docs)
        drawn = (draw(browser, picture, folder) for picture in pictures)
        for path in itertools.chain(drawn, () if arguments.only else more(browser, folder)):
            print(f"{path}  {path.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
