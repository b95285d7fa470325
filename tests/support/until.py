"""Waiting for what a test checks."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from typing import Any

import pytest_twisted
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred
from twisted.internet.task import deferLater

PAUSE = 0.01
PAGE_PAUSE = 50  # milliseconds


async def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """What ``condition`` returns, awaited if it can be, as soon as it is true. Fails after so many seconds."""
    end = time.monotonic() + seconds
    while not (outcome := await _value(condition())):
        assert time.monotonic() < end, "it never came true"
        await deferLater(reactor, PAUSE)
    return outcome


def until_on(page: Any, condition: Callable[[], Any], seconds: float = 60, seen: Callable[[], Any] = str) -> Any:
    """The same for a test that drives a browser: the page's events go on. ``seen`` tells what there is instead."""
    end = time.monotonic() + seconds
    while not (outcome := condition()):
        assert time.monotonic() < end, ("it never came true", page.url, seen())
        page.wait_for_timeout(PAGE_PAUSE)
    return outcome


def in_time(test: Callable[..., Any]) -> Callable[..., Any]:
    """An asynchronous test that fails instead of hanging."""

    @functools.wraps(test)
    async def limited(*arguments: Any, **keywords: Any) -> None:
        await ensureDeferred(test(*arguments, **keywords)).addTimeout(60, reactor)

    return pytest_twisted.ensureDeferred(limited)  # type: ignore[no-any-return]


async def _value(found: Any) -> Any:
    return await found if inspect.isawaitable(found) else found
