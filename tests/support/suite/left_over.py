"""Fixtures that outlive their test because its setup or teardown failed in a way that pytest 9.2 does not expect.

pytest forgets how the other fixtures of a test end when the end of one raises a BaseException that is no Exception
(SetupState.teardown_exact), and pytest-twisted keeps no result of an asynchronous fixture that failed, so that its
FixtureDef is never finished. Every later test in the process would get the same ``tmp_path``, or an AssertionError.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around what other plugins do, which may fail as well
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """What a test leaves does not reach the next one, whatever fails."""
    try:
        return (yield)
    finally:
        _end_fixtures(item)


def _end_fixtures(item: pytest.Item) -> None:
    """Finishes those that still hold a value, the last one first. Raises what they raise, all together."""
    errors: list[BaseException] = []
    for definition in reversed(_definitions(item)):
        if definition.cached_result is None:
            definition._finalizers.clear()
            continue
        try:
            definition.finish(item._request)  # type: ignore[attr-defined]
        except BaseException as error:
            errors.append(error)
    if errors:
        raise BaseExceptionGroup("fixtures that outlived their test", errors)


def _definitions(item: pytest.Item) -> list[Any]:
    """The fixtures of one test alone, in the order in which it asks for them."""
    info = getattr(item, "_fixtureinfo", None)
    groups = info.name2fixturedefs.values() if info else ()
    return [definition for definitions in groups for definition in definitions if definition.scope == "function"]
