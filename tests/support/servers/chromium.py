"""Which Chromium drives the tests."""

from __future__ import annotations

import os
import shutil

# Debian's headless shell is the same engine without a browser's window around it, for a third of the processor's time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")


def binary() -> str | None:
    """Its path; CHROMIUM names another one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
