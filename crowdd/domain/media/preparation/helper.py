"""A process that has the libraries loaded and forks one for each file; what it says is a status and nothing else."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from crowdd.concurrency.child_process import command, environment

_PROGRAM: Final = "crowdd.domain.media.preparation.program"
_GRACE_SECONDS: Final = 30.0  # within which it ends the one that it has forked
_TRIES: Final = 2  # it may end, because it had nothing to do, just when a file comes


@attrs.define(eq=False, weakref_slot=True)
class Helper:
    """Has files prepared, one at a time. The process is started when a file comes and none is there."""

    _process: subprocess.Popen[bytes] | None = None
    _finalizer: Any = None

    def status_of(self, source: Path, folder: Path, options: Mapping[str, Any], seconds: float) -> int:
        """How the process for a file ended (negative: by that signal); it is ended after so many seconds. Waits."""
        asked = {"source": str(source), "folder": str(folder), "options": dict(options), "seconds": seconds}
        for _ in range(_TRIES):
            answer, ended = self._asked(orjson.dumps(asked) + b"\n", time.monotonic() + seconds + _GRACE_SECONDS)
            if answer.endswith(b"\n"):
                return int(answer)
            if ended:
                return ended
        return -signal.SIGKILL

    def end(self) -> None:
        """Ends the process at once, with the one that it has forked."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None

    def _asked(self, line: bytes, until: float) -> tuple[bytes, int]:
        """What the process answers; without an answer, how it ended."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        answer = b""
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(line)
            while not answer.endswith(b"\n"):
                if not select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                    return b"", -signal.SIGKILL
                piece = os.read(process.stdout.fileno(), 64)
                if not piece:
                    return b"", process.wait()
                answer += piece
        finally:
            if not answer.endswith(b"\n"):
                self.end()
        return answer, 0

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.end()
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603
                [*_quietly(), *command(_PROGRAM)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C in a terminal is for the server
                env=environment(),
            )
            self._finalizer = weakref.finalize(self, _end, self._process)
        return self._process


def _quietly() -> list[str]:
    """What lets the disk serve others first; some systems do not have it."""
    ionice = shutil.which("ionice")
    return [ionice, "-c", "3"] if ionice else []


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
