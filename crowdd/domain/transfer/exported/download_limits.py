"""How many files may be downloaded, at once and in a quarter of an hour. Owners have counts of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from twisted.internet.interfaces import IReactorTime

from crowdd.config.limits import ExportSettings
from crowdd.errors import TooManyRequestsError
from crowdd.languages import _

WINDOW = 900  # seconds
_BACK_AFTER = 10  # seconds, until a place may be free
_MAX_KEYS = 100_000  # networks and accounts that are counted by themselves in a window


class DownloadLimits:
    """Of ``max_downloads`` downloads one account or network has half at most. ``clock`` has ``seconds()``."""

    def __init__(self, clock: IReactorTime, settings: ExportSettings) -> None:
        self._clock, self.settings = clock, settings
        self._running: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._begun: Counter[str] = Counter()
        self._end = 0.0

    @contextmanager
    def place(self, key: str, *, own: bool) -> Iterator[None]:
        """Holds a place while a file is downloaded by an account (``own``: of an owner) or from a network.

        Raises TooManyRequestsError.
        """
        running = self._running[own]
        if running.total() >= self.settings.max_downloads or running[key] >= max(1, self.settings.max_downloads // 2):
            words = _("Too many files are being downloaded. Try again in %(seconds)s seconds.", seconds=_BACK_AFTER)
            raise TooManyRequestsError(words, code="too_many_downloads", retry_after=_BACK_AFTER)
        if not own:
            self._count(key)
        running[key] += 1
        try:
            yield
        finally:
            running[key] -= 1
            running += Counter()  # forgets those who have none

    def _count(self, network: str) -> None:
        now = self._clock.seconds()
        if now >= self._end:
            self._begun.clear()
            self._end = now + WINDOW
        if len(self._begun) >= _MAX_KEYS and network not in self._begun:
            network = ""  # all further ones together
        wait = max(1, int(self._end - now))
        if self.settings.max_downloads_per_network and self._begun[network] >= self.settings.max_downloads_per_network:
            words = _("Your network has downloaded too many files. Try again in %(seconds)s seconds.", seconds=wait)
            raise TooManyRequestsError(words, code="too_many_downloads", retry_after=wait)
        self._begun[network] += 1
