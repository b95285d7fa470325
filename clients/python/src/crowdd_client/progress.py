"""Progress bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from crowdd_client.optional import optional

T = TypeVar("T")


def with_bar(rows: Iterable[T], name: str, total: int | None) -> Iterator[T]:
    """The rows, counted by a progress bar. Raises ImportError with what to install."""
    bar: Iterator[T] = iter(optional("tqdm.auto", "progress").tqdm(rows, desc=name, total=total, unit=" rows"))
    return bar
