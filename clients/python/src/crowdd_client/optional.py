"""Libraries that the package can do without, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(module: str, extra: str) -> Any:
    """The module. Raises ImportError with what to install."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(f"This needs {package}: pip install 'crowdd-client[{extra}]'") from None
