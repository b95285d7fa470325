"""A browser, the site of media, and the projects of the session's server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hands.projects import Projects
from hands.site import Site
from hands.volunteer import Volunteers


@pytest.fixture(scope="session")
def projects(live_server: Any) -> Iterator[Projects]:
    """Projects of the session: one for each thing that is asked."""
    site = Site()
    made = Projects(live_server.url, live_server.dsn, site)
    yield made
    made.close()
    site.close()


@pytest.fixture
def volunteers(
    browser: Any, live_server: Any, projects: Projects, tmp_path: Path
) -> Iterator[Callable[..., Volunteers]]:
    """Makes volunteers, who may meet a page with a fault (hands.faults)."""
    made = []

    def make(fault: Any = None) -> Volunteers:
        made.append(Volunteers(browser, projects, live_server.url, tmp_path, fault))
        return made[-1]

    yield make
    for each in made:
        each.close()
