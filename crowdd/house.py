"""Build all features of crowdd in their order."""

from __future__ import annotations

import functools

from crowdd.core import secrets as kept_secrets
from crowdd.core.base import Base, Shared
from crowdd.core.feature import Feature, House
from crowdd.core.secrets import Secrets
from crowdd.database.access import Reading, Transactions
from crowdd.kernel.config import Settings
from crowdd.kernel.reactor import IReactor
from crowdd.sched.feature import Scheduling
from crowdd.sched.registry import declared_classes


@functools.cache
def feature_classes() -> tuple[type[Feature], ...]:
    """The classes of the scheduler and of the features, in their order."""
    return (Scheduling, *declared_classes(Feature, "feature"))


def build_house(
    reactor: IReactor,
    db: Transactions,
    settings: Settings,
    secrets: Secrets,
    reading: Reading | None = None,
    slow_db: Reading | None = None,
) -> House:
    """All features on a database. ``reading``: what files are read by; ``slow_db``: what slow lists are read by.

    Without them the database itself is.
    """
    return House(
        Base.of(db, settings, Shared.begin(reactor, db, settings, secrets, reading, slow_db)), feature_classes()
    )


def make_house(
    reactor: IReactor,
    settings: Settings,
    db: Transactions,
    reading: Reading | None = None,
    slow_db: Reading | None = None,
) -> House:
    """The same with the secrets of the data folder. Raises ConfigError without these."""
    return build_house(reactor, db, settings, kept_secrets.load(settings.data.dir), reading, slow_db)
