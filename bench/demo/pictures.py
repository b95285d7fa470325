"""The pictures of README.md, of a site that ``make demo`` serves: ``python -m bench.demo.pictures [URL]``."""

from __future__ import annotations

import io
from typing import Any, Final

import click
from PIL import Image
from playwright.sync_api import sync_playwright
from support.servers.chromium import binary

from bench import ROOT

FOLDER: Final = ROOT / "docs" / "images" / "site"
WIDE: Final = {"width": 1280, "height": 800}
# By name: the address, and the selector of what is at the top of the picture.
PICTURES: Final = {
    "home": ("/", "main"),
    "boxes": ("/project/lake-counts/results", "h2:has-text('Finished tasks')"),
    "survey": ("/project/into-town/results", "#q1"),
    "places": ("/project/island-notes/results", "#q1"),
}


def draw(page: Any, url: str, name: str) -> int:
    """Writes a picture, in as few colours as a page has; its bytes."""
    path, top = PICTURES[name]
    page.goto(url + path)
    page.wait_for_load_state("networkidle")
    page.locator(top).first.evaluate("element => scrollTo(0, element.getBoundingClientRect().top + scrollY)")
    target = FOLDER / f"{name}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(128).save(target, "PNG", optimize=True)
    return target.stat().st_size


@click.command()
@click.argument("url", default="http://127.0.0.1:8000")
def main(url: str) -> None:
    """Draw the pictures of README.md."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=binary(), args=["--no-sandbox"])
        page = browser.new_context(viewport=WIDE, locale="en", color_scheme="light").new_page()
        for name in PICTURES:
            click.echo(f"{name}: {draw(page, url.rstrip('/'), name) // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main()
