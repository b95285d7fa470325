"""What is compiled once for all servers of this process, as in a server it is compiled once for all pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from crowdd.http.html import rendering

own_byte_code = rendering.open_byte_code_cache  # before conftest.py puts another in its place


class Compiled(BytecodeCache):
    """Templates, by name and text. What this process does not have comes from ``files``, which all processes share."""

    def __init__(self, files: BytecodeCache | None) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}
        self._files = files

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))
        if bucket.code is None and self._files is not None:
            self._files.load_bytecode(bucket)
            self._keep(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._keep(bucket)
        if self._files is not None:
            self._files.dump_bytecode(bucket)

    def _keep(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code


def once_per_document(make: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The OpenAPI document: it follows from its title and the addresses."""
    made: dict[Any, dict[str, Any]] = {}

    def remembered(kinds: Any, routes: Iterable[Any], *names: str) -> dict[str, Any]:
        routes = list(routes)
        key = names, tuple((route.method, route.path) for route in routes)
        if key not in made:
            made[key] = make(kinds, routes, *names)
        return made[key]

    return remembered


def once_per_object(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What follows from an object that stays: compared by identity, and kept with the result."""
    made: dict[int, tuple[Any, Any]] = {}

    def remembered(source: Any) -> Any:
        if id(source) not in made:
            made[id(source)] = source, make(source)
        return made[id(source)][1]

    return remembered


def once(make: Callable[..., Any]) -> Callable[..., Any]:
    """What is the same for all servers, whatever it is made from."""
    made: list[Any] = []

    def remembered(*sources: Any) -> Any:
        if not made:
            made.append(make(*sources))
        return made[0]

    return remembered


def once_for_each(key: Callable[[], Any], make: Callable[[], Any]) -> Callable[[], Any]:
    """What follows from ``key()``, however often it is asked for."""
    made: dict[Any, Any] = {}

    def remembered() -> Any:
        now = key()
        if now not in made:
            made[now] = make()
        return made[now]

    return remembered
