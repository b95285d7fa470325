"""Starts the process of an analysis, and reads what it found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from crowdd.kernel.concurrency import isolated
from crowdd.kernel.concurrency.isolated import RunningProgram
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_PROGRAM: Final = "crowdd.features.analyses.analysis_program:write_findings"
# One core is enough, and threads would each want addresses of their own.
_ONE_THREAD: Final = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}


def start(answers: Path, findings: Path, options: Values) -> RunningProgram:
    """Has the answers of a file analysed (``program``)."""
    return isolated.start(_PROGRAM, str(answers), str(findings), orjson.dumps(options).decode(), more=_ONE_THREAD)


def read(findings: Path) -> Iterator[Values]:
    """What the process has written: a summary, then chunks. Raises InvalidValueError with why it refused."""
    with findings.open("rb") as lines:
        for line in lines:
            document = orjson.loads(line)
            if "error" in document:
                raise InvalidValueError(document["error"])
            yield document


def too_costly() -> str:
    """Why an analysis that reached a limit failed."""
    return _("The method takes too much memory or time for these answers. Choose another method.")
