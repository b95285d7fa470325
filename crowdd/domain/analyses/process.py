"""Starts the process of an analysis, and says how it ended."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
import orjson

from crowdd.concurrency.child_process import command, environment, require_not_stopped
from crowdd.errors import InvalidValueError
from crowdd.languages import _
from crowdd.values import Values

_PROGRAM: Final = "crowdd.domain.analyses.program"
# One core is enough, and threads would each want addresses of their own.
_ONE_THREAD: Final = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}


@attrs.frozen(eq=False)
class AnalysisProcess:
    """An analysis that runs. ``findings`` is the file that it writes."""

    findings: Path
    _process: subprocess.Popen[bytes]

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
            raise InvalidValueError(too_costly())
        return True

    def end(self) -> None:
        """Ends it at once, if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def start(answers: Path, findings: Path, options: Values) -> AnalysisProcess:
    """Has the answers of a file analysed (``program``)."""
    process = subprocess.Popen(  # noqa: S603
        command(_PROGRAM, str(answers), str(findings), orjson.dumps(options).decode()),
        stdin=subprocess.PIPE,  # closed when the server dies, which ends the process
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C in a terminal is for the server
        env=environment(**_ONE_THREAD),
    )
    return AnalysisProcess(findings, process)


def read(findings: Path) -> Iterator[Values]:
    """What the process has written: a summary, then chunks. Raises InvalidValueError with why it refused."""
    with findings.open("rb") as lines:
        for line in lines:
            found = orjson.loads(line)
            if "error" in found:
                raise InvalidValueError(found["error"])
            yield found


def too_costly() -> str:
    """Why an analysis that reached a limit failed."""
    return _("The method takes too much memory or time for these answers. Choose another method.")
