"""Chromium, the wire, and two projects of one owner; the server is `live_server` of tests/conftest.py."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip


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
    binary = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not binary:
        _missing("Chromium (apt-get install chromium)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=binary, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def witness(live_server: Any) -> Iterator[Any]:
    """Stands between browser and server and writes down what is asked."""
    from wire import Witness

    address = urlsplit(live_server.url)
    listener = Witness(address.hostname or "127.0.0.1", address.port or 80)
    yield listener
    listener.close()


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Any]:
    """Another site."""
    from wire import Elsewhere

    site = Elsewhere()
    yield site
    site.close()


@attrs.frozen
class World:
    """An owner and two published projects of his, each with three tasks that are never full."""

    owner: Any
    mine: Any
    other: Any


@pytest.fixture(scope="session")
def world(browser: Any, live_server: Any) -> World:
    """Made once; answers of one test are told from those of another by their ids."""
    from stage import Person, Project

    owner = Person(live_server.url).register("framer")
    return World(owner, Project(owner, "faces", 3), Project(owner, "secrets", 3))


@pytest.fixture
def stage(browser: Any, witness: Any, elsewhere: Any, world: World) -> Iterator[Any]:
    """A new browser profile, at project `faces`."""
    from stage import Stage

    context = browser.new_context()
    context.set_default_timeout(8000)
    yield Stage(context, witness, elsewhere, world.mine, world.other)
    context.close()


@pytest.fixture
def new_person(live_server: Any) -> Any:
    """Makes an account at each call; its owner is signed in by his cookies."""
    from stage import Person

    return lambda: Person(live_server.url).register(f"person{uuid.uuid4().hex[:10]}")
