"""Our pages in Debian's Firefox, where it is installed: they are drawn, with our style.

Playwright drives a Firefox of its own build only, so this one takes its pictures itself.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

pytestmark = pytest.mark.browser
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PAPER = (248, 247, 244)  # of tokens.css, in the light theme
DARK = 60


@pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed (apt-get install firefox-esr)")
def test_pages_are_drawn_in_firefox_too(live_server: Any, tmp_path: Path) -> None:
    for number, path in enumerate(("/account/register", "/about")):
        picture = tmp_path / f"{number}.png"
        command = [str(FIREFOX), "--headless", "--profile", str(tmp_path), "--window-size=1280,800"]
        subprocess.run(
            [*command, f"--screenshot={picture}", live_server.url + path], capture_output=True, timeout=120, check=True
        )
        colours = {colour: n for n, colour in Image.open(picture).convert("RGB").getcolors(1 << 24) or []}
        written = sum(n for colour, n in colours.items() if max(colour) < DARK)
        assert colours.get(PAPER, 0) > 400_000 and written > 2_000, (path, written)
