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
        self._process = subprocess.Popen(
            [python, str(SCRIPT), *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, **more},
            start_new_session=True,
        )

    def run(self, argv: Sequence[str], environment: Mapping[str, str], folder: str, told: str) -> Ended:
        """What the program leaves."""
        for path, text in zip(self._files, (told, "", ""), strict=True):
            path.write_text(text)
        request = [argv, environment, folder, *map(str, self._files)]
        print(json.dumps(request), file=self._process.stdin, flush=True)
        ready, _, _ = select.select([self._process.stdout], [], [], SECONDS)
        assert ready and self._process.stdout, f"{argv} does not end"
        status = int(self._process.stdout.readline())
        return Ended(status, self._files[1].read_text(), self._files[2].read_text())

    def end(self) -> None:
        """Ends it, and what it has begun."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
