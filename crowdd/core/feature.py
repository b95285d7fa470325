"""How a feature comes to life: it is built from the core and from features before it, by what its ``build`` names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from crowdd.core.base import Base
from crowdd.database.access import Transactions
from crowdd.kernel.config import Settings
from crowdd.kernel.values import Values

F = TypeVar("F", bound="Feature")
Parts = dict[type, Any]
"""The base, the features and their pages, each by its class."""


class Feature:
    """What other features and the programs may use of one feature: its services, as fields.

    A class method ``build`` makes it. It takes what its annotations name: the ``Base``, and features before this one.
    """

    async def prepare(self) -> None:
        """Check or read what the feature needs of the database, before anything else uses it."""

    def start(self) -> None:
        """Begin what a program needs while it runs, such as threads."""

    def stop(self) -> None:
        """End it."""


class House:
    """The features of a process, built in their order on one database. It is asked for a feature by its class."""

    def __init__(self, base: Base, features: Sequence[type[Feature]]) -> None:
        """Raises TypeError for a feature that needs one that does not stand before it."""
        self.base, self._features = base, features
        self.parts: Parts = {Base: base}
        for each in features:
            build = each.build  # type: ignore[attr-defined]
            annotations = inspect.get_annotations(build.__func__, eval_str=True)
            self.parts[each] = build(**chosen(annotations, self.parts, each))

    def __getitem__(self, feature: type[F]) -> F:
        built: F = self.parts[feature]
        return built

    async def prepare(self) -> None:
        """Check or read what the features and the site need of the database."""
        for each in self._features:
            await self.parts[each].prepare()
        await self.base.site.load()

    def start(self) -> None:
        """Begin what the features need while a program runs. Not for houses that share its memory."""
        for each in self._features:
            self.parts[each].start()

    def stop(self) -> None:
        """End it, in the opposite order."""
        for each in reversed(self._features):
            self.parts[each].stop()

    def with_database(self, db: Transactions) -> House:
        """The same features on other connections; what is kept in memory is shared."""
        return House(Base.of(db, self.base.settings, self.base.shared), self._features)

    def with_settings(self, settings: Settings) -> House:
        """The same features by other settings; what is kept in memory is shared, but for the ways to other servers."""
        return House(Base.of(self.base.db, settings, self.base.shared.with_settings(settings)), self._features)


def chosen(annotations: Mapping[str, type], parts: Parts, whose: type) -> Values:
    """The parts that annotations name, by the names that they have there. Raises TypeError for one that is missing."""
    needed = {name: kind for name, kind in annotations.items() if name != "return"}
    missing = [name for name, kind in needed.items() if kind not in parts]
    if missing:
        raise TypeError(f"{whose.__name__} needs {', '.join(missing)}, which must stand before it")
    return {name: parts[kind] for name, kind in needed.items()}
