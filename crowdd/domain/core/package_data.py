"""Files that come with crowdd beside its code: a wheel has them inside the package, a checkout beside it."""

from __future__ import annotations

from pathlib import Path

from crowdd import PACKAGE


def shipped(name: str) -> Path:
    """Where the file or folder of this name in the checkout lies (setup.py says which a wheel has)."""
    inside = PACKAGE / "shipped" / name
    return inside if inside.exists() else PACKAGE.parent / name
