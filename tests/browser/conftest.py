"""Chromium, the wire, and projects of one owner; the server is `live_server` of tests/conftest.py."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

PATIENCE = 150.0  # seconds; a file of longer tests has its own


@pytest.fixture(autouse=True)
def _pages_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ends the pages of a test that waits for ever: what is evaluated in a frame that goes away may never return."""
    timer = threading.Timer(getattr(request.module, "PATIENCE", PATIENCE), _end_pages, (os.getpid(),))
    timer.daemon = True
    timer.start()
    yield
    timer.cancel()


def _end_pages(parent: int) -> None:
    """Kills the renderers of the browser that a process started."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{parent}/task").iterdir():
            for child in (task / "children").read_text().split():
                if b"--type=renderer" in Path(f"/proc/{child}/cmdline").read_bytes():
                    os.kill(int(child), signal.SIGKILL)
                else:
                    _end_pages(int(child))


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Makes a gallery in a fresh browser context; names are those of Playwright's new_context."""
    from gallery import Gallery

    contexts = []

    def make(guarded: bool = True, **options: Any) -> Any:
        contexts.append(browser.new_context(**options))
        return Gallery(contexts[-1].new_page(), guarded=guarded)

    yield make
    for context in contexts:
        context.close()


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


@pytest.fixture(scope="session")
def other_project(browser: Any, live_server: Any) -> Any:
    """What no presenter may touch: a published project of the same owner."""
    from presenter_page import Project
    from support.person import Person

    return Project(Person(live_server.url).register("framer"), "secrets", 3)


@pytest.fixture(scope="session")
def new_project(other_project: Any) -> Any:
    """Makes a published project of the owner: ``new_project(tasks=1, n_answers=1)``."""
    from presenter_page import Project

    def make(tasks: int = 3, n_answers: int = 1000) -> Project:
        return Project(other_project.owner, f"faces-{uuid.uuid4().hex[:8]}", tasks, n_answers)

    return make


@pytest.fixture(scope="module")
def make_stage(browser: Any, witness: Any, elsewhere: Any, other_project: Any, new_project: Any) -> Iterator[Any]:
    """Makes stages that last as long as the tests of a file; names are those of Playwright's new_context."""
    made = []

    def make(**options: Any) -> Any:
        made.append(_stage(browser, witness, elsewhere, other_project, new_project, **options))
        return made[-1]

    yield make
    for stage in made:
        stage.context.close()


@pytest.fixture
def stage(browser: Any, witness: Any, elsewhere: Any, other_project: Any, new_project: Any) -> Iterator[Any]:
    """A new browser profile, and a new project with three tasks that are never full."""
    made = _stage(browser, witness, elsewhere, other_project, new_project)
    yield made
    made.context.close()


def _stage(browser: Any, witness: Any, elsewhere: Any, other: Any, new_project: Any, **options: Any) -> Any:
    from presenter_page import Stage

    context = browser.new_context(**options)
    context.set_default_timeout(45_000)  # a busy machine is no failure
    return Stage(context, witness, elsewhere, new_project(), other)


@pytest.fixture(scope="session")
def new_person(live_server: Any) -> Any:
    """Makes an account at each call; its owner is signed in by his cookies."""
    from support.person import Person

    return lambda: Person(live_server.url).register(f"person{uuid.uuid4().hex[:10]}")
