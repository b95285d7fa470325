"""Draws the thumbnail of each template: its questions on its first sample task, as Chromium shows them.

``python -m bench.gallery.thumbnails URL [NAME …]`` asks a server of this checkout that runs at URL. A thumbnail is a
picture of its template as it was: ``thumbnail.json`` has the digest of what it was drawn from, and a test compares it.
"""

from __future__ import annotations

import hashlib
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
from PIL import Image
from playwright.sync_api import sync_playwright

from bench.gallery.samples import TEMPLATES

SIZE = (384, 256)
_BESIDE, _BELOW = {"width": 900, "height": 600}, {"width": 720, "height": 480}
"""Wide enough for a medium beside its questions; and so narrow that they are below it, and large."""
_LOW = frozenset({"text", "sound"})  # media that need no height
DRAWN_FROM = "thumbnail.json"
_IGNORED = frozenset({"thumbnail.webp", DRAWN_FROM, "template.json"})


def digest(folder: Path) -> str:
    """What a thumbnail is drawn from: the project and its tasks with their files."""
    hasher = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.name not in _IGNORED):
        hasher.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return hasher.hexdigest()


def view(folder: Path) -> dict[str, int]:
    """The size of the window in which a template is drawn."""
    step = orjson.loads((folder / "project.json").read_bytes())["info"]["questions"]["steps"][0]
    media = {medium["type"] for medium in step.get("media", ())}
    return _BELOW if media <= _LOW else _BESIDE


def draw(page: Any, url: str, folder: Path) -> None:
    """Draws one."""
    size = view(folder)
    page.set_viewport_size(size)
    page.goto(f"{url}/templates/{folder.name}")
    page.locator("#trial iframe").scroll_into_view_if_needed()  # frames that nobody sees draw nothing
    frame = page.frame_locator("#trial iframe")
    frame.locator("form").first.wait_for(timeout=30_000)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1200)
    page.evaluate(_ALONE, [size["width"], size["height"]])
    page.wait_for_timeout(600)
    picture = Image.open(BytesIO(page.screenshot(type="png"))).convert("RGB")
    picture.resize(SIZE, Image.Resampling.LANCZOS).save(folder / "thumbnail.webp", "WEBP", quality=33, method=6)
    (folder / DRAWN_FROM).write_bytes(orjson.dumps({"drawn_from": digest(folder)}) + b"\n")


# The frame alone, in the left upper corner.
_ALONE = """([width, height]) => {
  const frame = document.querySelector("#trial iframe");
  document.body.style.cssText = "margin: 0";
  for (const rule of [["position", "fixed"], ["inset", "0"], ["z-index", "99"], ["inline-size", width + "px"],
                      ["block-size", height + "px"], ["border", "0"], ["border-radius", "0"]]) {
    frame.style.setProperty(rule[0], rule[1], "important");
  }
}"""


def main(url: str, names: list[str]) -> None:
    """Draws those with these names, or all."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
        context = browser.new_context(locale="en", bypass_csp=True, reduced_motion="reduce")
        page = context.new_page()
        for folder in sorted(path for path in TEMPLATES.iterdir() if path.is_dir()):
            if not names or folder.name in names:
                draw(page, url.rstrip("/"), folder)
                print(folder.name, (folder / "thumbnail.webp").stat().st_size)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
