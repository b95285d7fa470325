"""What is compiled once for all servers of this process, as in a server it is compiled once for all pages."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class Compiled(BytecodeCache):
    """Templates, by name and text."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code


def once_per_address(compile_builder: Callable[..., Any]) -> Callable[..., Any]:
    """werkzeug's functions that make addresses out of rules: two for each of our addresses, none of which is ever called."""
    made: dict[tuple[str, bool], Any] = {}

    def remembered(rule: Any, append_unknown: bool = True) -> Any:
        key = rule.rule, append_unknown
        if key not in made:
            made[key] = compile_builder(rule, append_unknown)
        return made[key]

    return remembered
