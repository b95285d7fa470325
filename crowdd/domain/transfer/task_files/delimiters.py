"""Which delimiter a table has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from crowdd.domain.transfer.task_files.columns import widths
from crowdd.domain.transfer.task_files.csv_rows import DELIMITER_LINE
from crowdd.domain.transfer.task_files.dialect import DELIMITERS

_RAREST_FIRST = ("\t", "|", ";", ",")  # in prose
_NOT_CUT = (0.0, False, 0)


def detect_delimiter(lines: Sequence[str]) -> str:
    """The delimiter of a table that begins with these lines: it cuts most of them into the same number of cells.

    Where none does, it is that of the first line, and for a table of one column one that does not occur.
    """
    named = DELIMITER_LINE.fullmatch(lines[0]) if lines else None
    if named and not named[1].isalnum() and named[1] not in ' "':
        return named[1]
    best = max(_RAREST_FIRST, key=lambda delimiter: _score(lines, delimiter))
    if _score(lines, best) > _NOT_CUT:
        return best
    widest = max(DELIMITERS, key=lambda delimiter: sum(widths(lines[:1], delimiter)))
    if sum(widths(lines[:1], widest)) > 1:
        return widest
    return next((each for each in DELIMITERS if not any(each in line for line in lines)), ",")


def _score(lines: Sequence[str], delimiter: str) -> tuple[float, bool, int]:
    """How well a delimiter fits: the share of lines with as many cells, whether the first is one, how many cells."""
    counts = widths(lines, delimiter)
    common, n = max(Counter(counts).most_common(1), default=(1, 0))
    if common < 2:
        return _NOT_CUT
    return round(n / len(counts), 1), counts[0] == common, common
