"""The interfaces of the reactor that crowdd uses, as one type. Only programs import the reactor itself."""

from __future__ import annotations

from twisted.internet.interfaces import (
    IReactorCore,
    IReactorFDSet,
    IReactorPluggableNameResolver,
    IReactorProcess,
    IReactorSocket,
    IReactorSSL,
    IReactorTCP,
    IReactorThreads,
    IReactorTime,
)


class IReactor(
    IReactorCore,
    IReactorTime,
    IReactorThreads,
    IReactorTCP,
    IReactorSSL,
    IReactorSocket,
    IReactorProcess,
    IReactorFDSet,
    IReactorPluggableNameResolver,
):
    """A reactor of Linux. Code that only needs the time takes ``IReactorTime``, which the tests' ``Clock`` provides."""
