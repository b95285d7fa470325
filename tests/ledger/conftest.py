"""Sessions with the ledger: one that looks for every invariant after every change, and further ones beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.ledger import Ledger


@pytest.fixture
def ledger(dsn: str) -> Iterator[Ledger]:
    """A session in which every call is checked."""
    made = Ledger(dsn, check=True)
    yield made
    made.close()


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
