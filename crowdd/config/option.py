"""How a setting is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import attrs

T = TypeVar("T")


def option(default: T, parse: Callable[[str], object] = str, doc: str = "", *, fixed: bool = False) -> T:
    """A setting; one that is ``fixed`` is read at the start only, the others again at SIGHUP."""
    field: T = attrs.field(default=default, metadata={"parse": parse, "doc": doc, "fixed": fixed})
    return field
