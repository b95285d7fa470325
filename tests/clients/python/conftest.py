"""A project on a server that runs as a process of its own, and the client of its owner."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from crowdd_client import Client, Project
from support.person import Person
from support.servers.breaking_proxy import BreakingProxy, breaking

PRESENTER = {"task_presenter": "<p>Is there a bird?</p>"}


@pytest.fixture
def owner(live_server: Any) -> Person:
    """Somebody with a key."""
    return Person(live_server.url).register(f"owner{uuid.uuid4().hex[:8]}")


@pytest.fixture
def client(owner: Person) -> Iterator[Client]:
    """The client of the owner."""
    with Client(owner.url, owner.key) as made:
        yield made


@pytest.fixture
def new_name() -> Callable[[], str]:
    """Names that no other project has."""
    return lambda: f"birds{uuid.uuid4().hex[:8]}"


@pytest.fixture
def project(client: Client, new_name: Callable[[], str]) -> Project:
    """A draft of the owner."""
    name = new_name()
    return client.create_project(name, name, "Is there a bird?", info=PRESENTER)


@pytest.fixture
def proxy(live_server: Any) -> Iterator[BreakingProxy]:
    """What breaks connections to the server."""
    with breaking(live_server.url) as made:
        yield made
