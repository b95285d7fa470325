"""The log: lines for people or JSON, each with the request that it belongs to.

No line contains a configured secret or the address of a client. A full file is rotated, and a file that was moved or
removed is opened again.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

import orjson
from twisted.logger import ILogObserver, LogEvent, LogLevel, eventAsText, formatEvent
from twisted.python.logfile import LogFile
from zope.interface import implementer

from crowdd.kernel.config import Settings
from crowdd.kernel.errors import ConfigError

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the current request. Each coroutine has its own, which the functions that it calls see."""

_LOOK_SECONDS = 1.0  # between two checks whether the file was moved
_MIN_SECRET_LENGTH = 4  # masking shorter ones would mask words
_FILE_MODE = 0o640
# Of interest to those who debug alone: each connection to another server, twice, which reactor is used, and what old
# parts of Twisted say of ports and of plugins.
_CHATTER = ("twisted.web.client.", "twisted.protocols.policies.", "twisted.scripts.", "log_legacy")
_FACTORIES = ("Starting factory", "Stopping factory")  # in the name of the factory's module
JOURNAL = "JOURNAL_STREAM"


class Output(Protocol):
    """The destination of log lines."""

    def write(self, text: str) -> object: ...
    def flush(self) -> object: ...


class RotatingFile(LogFile):
    """A log file that is opened again after it was moved or removed."""

    def __init__(self, path: Path, max_bytes: int, keep: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._looked = clock, clock()
        self._file: Any = None
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path.name, str(path.parent), max_bytes or None, _FILE_MODE, keep)

    def write(self, data: str) -> None:
        if self._clock() - self._looked >= _LOOK_SECONDS:
            self._looked = self._clock()
            self._refresh()
        super().write(data)

    def reopen(self) -> None:
        """Open the path again. If that fails, keep the open file."""
        before = self._file
        try:
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            self._openFile()
        except OSError:
            self._file = before
        else:
            before.close()

    def _refresh(self) -> None:
        try:
            same = os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except OSError:
            same = False
        if not same:
            self.reopen()


@implementer(ILogObserver)
class EventWriter:
    """Writes events as the settings say. ``use`` applies other settings."""

    def __init__(
        self, settings: Settings, output: Output | None = None, *, worker: str = "", timed: bool = True
    ) -> None:
        """``output`` is the destination if no file is configured; None is a file in the data folder.

        ``timed``: lines of text on ``output`` have a time. Raises ConfigError if the file cannot be written.
        """
        self._elsewhere, self._worker, self._timed = output, worker, timed
        self._output: Output | None = None
        self.use(settings)

    def use(self, settings: Settings) -> None:
        """Apply settings. Raises ConfigError, and then changes nothing."""
        opened = self._opened(settings)
        self._close()
        self._output = opened
        self._minimum = LogLevel.lookupByName(settings.log.level)
        self._line = self._as_json if settings.log.format == "json" else self._as_text
        self._secrets = [text for text in settings.secrets() if len(text) >= _MIN_SECRET_LENGTH]

    def __call__(self, event: LogEvent) -> None:
        """Write an event."""
        if _level(event) < self._minimum or self._output is None:
            return
        line = self._line(event)
        for secret in self._secrets:
            line = line.replace(secret, "…")
        self._output.write(line)
        self._output.flush()

    def write(self, text: str) -> None:
        """Write lines of a worker, which are complete already."""
        if self._output is not None:
            self._output.write(text)
            self._output.flush()

    def _opened(self, settings: Settings) -> Output:
        if not settings.log.file and self._elsewhere is not None:
            return self._elsewhere
        path = Path(settings.log.file) if settings.log.file else settings.data.dir / "crowdd.log"
        try:
            return RotatingFile(path.absolute(), settings.log.max_bytes, settings.log.backup_count)
        except OSError as error:
            raise ConfigError(f"Cannot write the log {path}: {error.strerror}. Choose another: [log] file.") from None

    def _close(self) -> None:
        if isinstance(self._output, RotatingFile):
            self._output.close()

    def _as_text(self, event: LogEvent) -> str:
        timed = self._timed or isinstance(self._output, RotatingFile)
        text, asked = eventAsText(event, includeTimestamp=timed), _request(event)
        marks = [f"request {asked}"] * bool(asked) + [f"worker {self._worker}"] * bool(self._worker)
        first, *more = text.splitlines() or [""]
        marked = f"{first} ({', '.join(marks)})" if marks else first
        return "\n\t".join([marked, *more]) + "\n"

    def _as_json(self, event: LogEvent) -> str:
        line: dict[str, object] = {
            "time": f"{_iso(event['log_time'])}",
            "level": event["log_level"].name if "log_level" in event else "info",
            "logger": event.get("log_namespace", ""),
            "message": formatEvent(event),
            **{name: event[name] for name in ("method", "route", "status", "seconds", "security") if name in event},
        }
        if asked := _request(event):
            line["request"] = asked
        if self._worker:
            line["worker"] = self._worker
        if "log_failure" in event:
            line["traceback"] = event["log_failure"].getTraceback()
        return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode() + "\n"


def _level(event: LogEvent) -> Any:
    level = event.get("log_level", LogLevel.info)
    of_factory = str(event.get("log_format") or "").startswith(_FACTORIES)
    chatter = of_factory or event.get("log_namespace", "").startswith(_CHATTER)
    return LogLevel.debug if chatter and level == LogLevel.info else level


def _request(event: LogEvent) -> str:
    return str(event.get("request_id") or request_id.get())


def _iso(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1_000_000):06d}Z"


def is_journal(environ: Mapping[str, str], descriptor: int) -> bool:
    """Whether an open file is the journal of systemd, which has the time of each line itself (systemd.exec(5))."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return False
    return environ.get(JOURNAL, "") == f"{status.st_dev}:{status.st_ino}"


def standard_output() -> Output:
    """The original standard output. Twisted replaces ``sys.stdout`` and logs what is printed."""
    return sys.__stdout__ or sys.stdout
