"""Which Chromium drives the tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Debian's headless shell is the same engine without a browser's window around it, for a third of the processor's time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")


def binary() -> str | None:
    """Its path; CHROMIUM names another one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


# Chromium takes the last list of features only, so those of Playwright that matter here are among these.
NO_FEATURES = (
    "SpareRendererForSitePerProcess",  # begins a process for each page, in case of another one
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "MediaRouter",
    "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)  # fmt: skip
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--in-process-gpu",  # one process less, and a tenth of the processor's time
    f"--disable-features={','.join(NO_FEATURES)}",
    "--site-per-process",  # as people's browsers have it: a presenter's frame is a process of its own
)  # fmt: skip


_SHARED, _LARGE = Path("/dev/shm"), 2**30


def _unneeded() -> list[str]:
    """Flags of Playwright's that make tests slow: large pictures are on the disk where little memory can be shared."""
    roomy = _SHARED.is_dir() and shutil.disk_usage(_SHARED).free > _LARGE
    return ["--disable-dev-shm-usage"] if roomy else []


def _missing(what: str) -> None:
    reason = f"{what} is missing: the browser tests did not run"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium with a fresh profile; CHROMIUM names another binary."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright (pip install playwright)")
    executable = binary()
    if not executable:
        _missing("Chromium (apt-get install chromium-headless-shell)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=executable, args=list(FLAGS), ignore_default_args=_unneeded()
        )
        yield chromium
        chromium.close()
