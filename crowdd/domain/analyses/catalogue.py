"""The methods by name: what they need, what they are given, and which one suits a project."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

import attrs

from crowdd.errors import InvalidValueError
from crowdd.languages import _

EXTRA: Final = "crowdd[trust]"
_NUMBERS: Final = ("numpy", "scipy")
_MAX_ANSWERS: Final = 5_000_000
_MAX_OF_CROWD_KIT: Final = 200_000


@attrs.frozen
class Method:
    """A method of analyses. ``libraries`` are those that it imports; ``parameters`` are numbers that it takes.

    ``domain.analyses.methods`` has a module of this name.
    """

    name: str
    title: str
    parameters: Mapping[str, float] = MappingProxyType({})
    libraries: tuple[str, ...] = _NUMBERS
    max_answers: int = _MAX_ANSWERS

    @property
    def installed(self) -> bool:
        """Whether this installation has the libraries."""
        return all(find_spec(library) is not None for library in self.libraries)

    def require(self) -> None:
        """Raises InvalidValueError where its libraries are not installed."""
        if not self.installed:
            words = _("%(method)s needs libraries that are not installed.", method=self.title)
            raise InvalidValueError(words, hint=f"Install {EXTRA}.", code="not_installed")

    @property
    def too_many(self) -> str:
        """Why it refuses more answers than it can take."""
        return _("%(method)s takes at most %(max)s answers. Choose another method.", **self._limit())

    def _limit(self) -> dict[str, object]:
        return {"method": self.title, "max": f"{self.max_answers:,}"}


METHODS: Final[Mapping[str, Method]] = MappingProxyType({
    each.name: each
    for each in (
        Method(
            "one_coin",
            _("One coin"),
            {"right": 2, "wrong": 1, "rounds": 100, "tolerance": 1e-6},
        ),
        Method(
            "dawid_skene",
            _("Dawid-Skene"),
            {"rounds": 100, "tolerance": 1e-5},
        ),
        Method("majority", _("Majority")),
        Method(
            "mace",
            _("MACE"),
            {"rounds": 50},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_CROWD_KIT,
        ),
        Method(
            "glad",
            _("GLAD"),
            {"rounds": 100, "tolerance": 1e-5},
            (*_NUMBERS, "crowdkit"),
            _MAX_OF_CROWD_KIT,
        ),
    )
})  # fmt: skip
"""In the order in which they are offered."""


def suggested(median_answers: int, n_choices: int) -> str:
    """The method that is offered first: one coin, or Dawid-Skene from a median of n_choices² answers per volunteer."""
    return "dawid_skene" if n_choices > 1 and median_answers >= n_choices**2 else "one_coin"
