"""Libraries and modules that weigh much and are seldom needed: imported at their first use.

A module names them at its top as any other, once for the type checker and once for the program:

    if TYPE_CHECKING:
        import jwt
    else:
        jwt = lazy("jwt")
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

_NAMES: dict[str, bool] = {}  # whether a server seldom needs it


class _Lazy(ModuleType):
    """Stands for a module until something of it is asked for; what was asked for is kept."""

    def __init__(self, name: str, extra: str) -> None:
        super().__init__(name)
        self._extra = extra

    def __getattr__(self, name: str) -> Any:
        try:
            module = import_module(self.__name__)
        except ModuleNotFoundError:
            if self._extra:
                raise lacking(self._extra) from None
            raise
        value = getattr(module, name)
        setattr(self, name, value)
        return value


def lazy(name: str, *, seldom: bool = False, extra: str = "") -> Any:
    """A stand-in for the module of this name.

    ``seldom``: most servers never need it, and who does uses it in a thread or process, which may wait: ``load_all``
    leaves it out, and with it what it takes of memory. ``extra``: what installs it; where it is missing, its use raises
    what ``lacking`` says.
    """
    _NAMES[name] = seldom
    return _Lazy(name, extra)


def lacking(extra: str) -> InvalidValueError:
    """The error where a library of an extra of the package is not installed."""
    words = _(
        "This server lacks a library for that. Its operator can install it: pip install 'crowdd[%(extra)s]'.",
        extra=extra,
    )
    return InvalidValueError(words, code="not_installed")


def load_all(*, seldom: bool = False) -> None:
    """Imports what there are stand-ins for: a server does so once it serves, that no request has to wait for it.

    ``seldom``: also what most servers never need. Libraries of extras may be missing.
    """
    for name in [name for name, is_seldom in _NAMES.items() if seldom or not is_seldom]:
        with suppress(ModuleNotFoundError):
            import_module(name)
