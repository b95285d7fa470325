"""Pictures of our pages, to be looked at: ``python -m browser.pictures`` (make pictures) draws those of docs/images.

make pictures                       the chosen ones and what a volunteer sees while he works, into docs/images
make pictures TO=/tmp/pictures      every page, 1280 and 360 wide, light and dark
make pictures TO=/tmp/p ONLY=admin  those whose template begins so
"""

from __future__ import annotations

import argparse
import io
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright
from support.checks.page_contexts import Case, cases
from support.servers.chromium import binary

sys.path.insert(0, str(Path(__file__).parent))  # as pytest has it
import scenes
from gallery import Gallery

from bench.support import testbed

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDE, PHONE = (1280, 800), (360, 740)
SCALE = 2  # of a phone's screen
_STRANGE = ("hostile", "long words", "right to left")


class Picture(NamedTuple):
    """A page as somebody sees it."""

    name: str
    case: Case
    size: tuple[int, int]
    theme: str
    whole: bool = False


CHOSEN = (
    ("public/home", "home/index.html", "in use", WIDE, "light"), ("public/home-dark", "home/index.html", "in use", WIDE, "dark"),
    ("public/home-phone", "home/index.html", "in use", PHONE, "light"), ("public/project", "project/index.html", "visitor", WIDE, "light"),
    ("public/project-phone-dark", "project/index.html", "visitor", PHONE, "dark"), ("owner/stats", "project/stats.html", "visitor", WIDE, "light"),
    ("owner/stats-phone", "project/stats.html", "visitor", PHONE, "light"), ("public/profile", "account/profile.html", "in use", WIDE, "light"),
    ("public/profile-phone", "account/profile.html", "in use", PHONE, "light"), ("owner/dashboard", "admin/dashboard.html", "a week", WIDE, "light"),
    ("owner/dashboard-phone-dark", "admin/dashboard.html", "a week", PHONE, "dark"), ("owner/people", "admin/users.html", "some found", WIDE, "dark"),
    ("owner/new", "project/new.html", "first", WIDE, "light"), ("owner/new-phone-dark", "project/new.html", "first", PHONE, "dark"),
    ("owner/import", "project/import.html", "some", WIDE, "light"), ("owner/import-phone", "project/import.html", "first", PHONE, "light"),
    ("owner/columns-dark", "project/import_one.html", "columns", WIDE, "dark"), ("owner/columns-phone", "project/import_one.html", "columns", PHONE, "light"),
    ("owner/publishing", "project/publish.html", "missing", WIDE, "light"), ("owner/publishing-phone-dark", "project/publish.html", "missing", PHONE, "dark"),
    ("public/browse", "project/browse.html", "owner", WIDE, "light"), ("public/browse-phone-dark", "project/browse.html", "owner", PHONE, "dark"),
    ("owner/webhook-dark", "project/webhook.html", "in use", WIDE, "dark"), ("owner/webhook-phone", "project/webhook.html", "in use", PHONE, "light"),
    ("public/leaderboard", "stats/leaderboard.html", "among the first", WIDE, "light"), ("owner/settings-phone", "account/update.html", "first", PHONE, "light"),
)  # fmt: skip


def chosen() -> Iterator[Picture]:
    """The pictures of docs/images, and the page in a language that is written from right to left."""
    known = {(case.template, case.kind): case for case in cases()}
    for name, template, kind, size, theme in CHOSEN:
        case = known.get((template, kind)) or next(case for case in cases() if case.template == template)
        yield Picture(name, case, size, theme)
    home = known["home/index.html", "in use"]
    yield Picture(
        "public/arabic", home._replace(context=home.context | {"locale": "ar", "direction": "rtl"}), WIDE, "light"
    )


def every(only: str) -> Iterator[Picture]:
    """The first case of each page at both widths in both themes."""
    first = {case.template: case for case in reversed(cases()) if not case.kind.endswith(_STRANGE)}
    for template, case in sorted(first.items()):
        if template.startswith(only):
            name = template.removesuffix(".html").replace("/", "-")
            for size in (WIDE, PHONE):
                for theme in ("light", "dark"):
                    yield Picture(f"{name}-{size[0]}-{theme}", case, size, theme, whole=True)


def draw(browser: Any, picture: Picture, folder: Path) -> Path:
    """Writes the picture, in as few colours as a page has, so that it stays small."""
    phone = picture.size == PHONE
    context = browser.new_context(**_screen(picture.size, SCALE if phone and not picture.whole else 1))
    gallery = Gallery(context.new_page())
    page = gallery.show(picture.case._replace(context=picture.case.context | {"theme": picture.theme}))
    path = _save(page, folder / f"{picture.name}.png", picture.whole)
    context.close()
    return path


def _screen(size: tuple[int, int], scale: int = 1) -> dict[str, Any]:
    return {"viewport": {"width": size[0], "height": size[1]}, "device_scale_factor": scale}


def _save(page: Any, path: Path, whole: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    shot = Image.open(io.BytesIO(page.screenshot(full_page=whole)))
    shot.convert("RGB").quantize(128).save(path, "PNG", optimize=True)
    return path


def play(browser: Any, folder: Path) -> Iterator[Path]:
    """Pictures of a volunteer at work, on a server of their own."""
    screens = {"wide": _screen(WIDE), "phone": _screen(PHONE, SCALE) | {"has_touch": True, "is_mobile": True}}
    with testbed.folder() as place, testbed.postgres(place) as postgres, testbed.crowdd(postgres.dsn, place) as server:
        for scene, page in scenes.played(browser, server.url, scenes.projects(server.url), **screens):
            yield _save(page, folder / "task" / f"{scene.name}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=None, help="a folder for every page; without it the chosen ones")
    parser.add_argument("--only", default="", help="the beginning of the templates' names")
    arguments = parser.parse_args()
    folder = arguments.to or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    found = binary()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        pictures = every(arguments.only) if arguments.to else chosen()
        drawn = (draw(browser, picture, folder) for picture in pictures)
        for path in drawn if arguments.to else itertools.chain(drawn, play(browser, folder)):
            print(f"{path}  {path.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
