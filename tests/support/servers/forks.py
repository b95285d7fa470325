"""A process that has imported what a program needs, and forks for each run of its installed script."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

SCRIPT = Path(__file__).with_name("forked_cli.py")
SECONDS = 60


@attrs.frozen
class Ended:
    """What a command left: its exit status and what it printed."""

    status: int
    output: str
    complaint: str

    @property
    def json(self) -> Any:
        return json.loads(self.output)


class Warm:
    """Runs scripts of one Python, with ``modules`` imported; without them, those that crowdctl needs."""

    def __init__(self, folder: Path, python: str = sys.executable, modules: Sequence[str] = (), **more: str) -> None:
        self._files = [folder / name for name in ("told", "output", "complaint")]
        self._program, self._folder, self._more = [python, str(SCRIPT), *modules], folder, more
        self._process, self._asked = self._started(), 0

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            env={**os.environ, **self._more},
            start_new_session=True,
        )

    def run(self, argv: Sequence[str], environment: Mapping[str, str], folder: str, told: str) -> Ended:
        """What the program leaves."""
        for path, text in zip(self._files, (told, "", ""), strict=True):
            path.write_text(text)
        self._asked += 1
        request = [self._asked, argv, environment, folder, *map(str, self._files)]
        print(json.dumps(request), file=self._process.stdin, flush=True)
        status = self._status(argv)
        return Ended(status, self._files[1].read_text(), self._files[2].read_text())

    def _status(self, argv: Sequence[str]) -> int:
        """The answer to the last request: who asked for an earlier one may have given up waiting for it."""
        number = 0
        while number != self._asked:
            ready, _, _ = select.select([self._process.stdout], [], [], SECONDS)
            assert ready and self._process.stdout, f"{argv} does not end"
            number, status = map(int, self._process.stdout.readline().split())
        return status

    def end(self) -> None:
        """Ends it, and what it has begun."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
