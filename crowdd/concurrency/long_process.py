"""A process that works on files for minutes, while the server looks at it now and then."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import IO

import attrs

from crowdd.concurrency.child_process import command, environment, require_not_stopped
from crowdd.errors import InvalidValueError


@attrs.frozen(eq=False)
class LongProcess:
    """``too_costly`` says in words what is wrong where a limit ended it."""

    _process: subprocess.Popen[bytes]
    _too_costly: Callable[[], str]

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within so many seconds. Call it in a thread.

        Raises InvalidValueError when a limit ended it, StoppedError when it was told to end.
        """
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        require_not_stopped(status)
        if status:
            raise InvalidValueError(self._too_costly())
        return True

    def end(self) -> None:
        """Ends it at once, if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def start(
    program: str, arguments: list[str], too_costly: Callable[[], str], output: IO[bytes] | None = None, /, **more: str
) -> LongProcess:
    """Starts ``python -m program`` with these arguments; ``more`` is added to its environment.

    ``output``: the file that what it prints goes to.

    The program calls ``child_process.watch_server``, so that it ends with the server.
    """
    process = subprocess.Popen(  # noqa: S603
        command(program, *arguments),
        stdin=subprocess.PIPE,  # closed when the server dies, which ends the process
        stdout=subprocess.DEVNULL if output is None else output,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C in a terminal is for the server
        env=environment(**more),
    )
    return LongProcess(process, too_costly)
