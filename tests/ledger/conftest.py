"""Sessions with the ledger: one that looks for every invariant after every change, and further ones beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.ledger import Ledger
from support.servers.postgres import Postgres


@pytest.fixture
def ledger(postgres: Postgres, dsn: str) -> Iterator[Ledger]:
    """A session in which every call is checked. It outlives the test: to plan the checks takes longer than most tests."""
    made = postgres.resting.pop(dsn, None)
    made = made if made and made.wake() else Ledger(dsn, check=True)
    yield made
    postgres.rest(dsn, made)


@pytest.fixture
def planned_again() -> None:
    """The ledger's session is new and plans for the rows that it finds: for tests with many of them."""


@pytest.fixture
def beside(dsn: str) -> Iterator[Callable[[], Ledger]]:
    """Further sessions, each with a transaction that lasts until ``commit``."""
    made: list[Ledger] = []

    def another() -> Ledger:
        made.append(Ledger(dsn, autocommit=False))
        return made[-1]

    yield another
    for session in made:
        session.close()
