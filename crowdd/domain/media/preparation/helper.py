"""A process that has the libraries loaded and forks one for each file; what it says is a status and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from crowdd.concurrency.helper_process import HelperProcess

_PROGRAM: Final = "crowdd.domain.media.preparation.program"
_GRACE_SECONDS: Final = 30.0  # within which it ends the one that it has forked


@attrs.define(eq=False)
class Helper(HelperProcess):
    """Has files prepared, one at a time."""

    program: str = _PROGRAM

    def status_of(self, source: Path, folder: Path, options: Mapping[str, Any], seconds: float) -> int:
        """How the process for a file ended (negative: by that signal); it is ended after so many seconds. Waits."""
        asked = {"source": str(source), "folder": str(folder), "options": dict(options), "seconds": seconds}
        answer, ended = self.ask(orjson.dumps(asked) + b"\n", seconds + _GRACE_SECONDS)
        return int(answer) if answer else ended
