"""Log the beginning and the end of a database outage, not every failed attempt."""

from __future__ import annotations

from twisted.logger import Logger

from crowdd.errors import UnavailableError

log = Logger()


class LogOnce:
    """The outages of one part of the server; ``what`` names it in the log."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lasts = False

    def failed(self, error: UnavailableError) -> None:
        """An attempt failed: log the outage once."""
        if not self._lasts:
            self._lasts = True
            log.warn("{what} paused, database unavailable: {error}", what=self._what, error=error)

    def succeeded(self) -> None:
        """An attempt succeeded: log the recovery once."""
        if self._lasts:
            self._lasts = False
            log.warn("{what} resumed", what=self._what)
