"""What cannot be done because of the database is told when that begins and when it ends, not at every attempt."""

from __future__ import annotations

from twisted.logger import Logger

from crowdd.errors import UnavailableError

log = Logger()


class LogOnce:
    """Of one part, which the lines call ``what``."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lasts = False

    def failed(self, error: UnavailableError) -> None:
        """Another attempt was in vain."""
        if not self._lasts:
            self._lasts = True
            log.warn("{what} has to wait: {error}", what=self._what, error=error)

    def succeeded(self) -> None:
        """An attempt to change something was not."""
        if self._lasts:
            self._lasts = False
            log.warn("{what} goes on", what=self._what)
