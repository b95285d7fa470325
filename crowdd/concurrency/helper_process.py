"""A process that has its libraries loaded and answers lines with lines. Waits: call it in a thread, one at a time."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
import weakref
from typing import Any, Final

import attrs

from crowdd.concurrency.child_process import command, environment

_TRIES: Final = 2  # it may end, because it had nothing to do, just when a line comes
_PIECE: Final = 65_536


@attrs.define(eq=False, weakref_slot=True)
class HelperProcess:
    """``python -m program``, started when a line comes and none is there."""

    program: str
    _process: subprocess.Popen[bytes] | None = None
    _finalizer: Any = None

    def ask(self, line: bytes, seconds: float) -> tuple[bytes, int]:
        """The line that the process answers. Without one it has ended: b"", and how (negative: by that signal).

        It is ended when it takes more than so many seconds.
        """
        until = time.monotonic() + seconds
        for _ in range(_TRIES):
            answer, ended = self._asked(line, until)
            if answer or ended:
                return answer, ended
        return b"", -signal.SIGKILL

    def end(self) -> None:
        """Ends the process at once, with those that it has forked."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None

    def _asked(self, line: bytes, until: float) -> tuple[bytes, int]:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        answer = b""
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(line)
            while not answer.endswith(b"\n"):
                if not select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                    return b"", -signal.SIGKILL
                piece = os.read(process.stdout.fileno(), _PIECE)
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
                [*_quietly(), *command(self.program)],
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
