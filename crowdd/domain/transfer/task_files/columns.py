"""The columns of a table: what they are called, and whether the first line names them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from crowdd.domain.transfer.task_files.file_row import readable

_DATA = re.compile(
    r"[+-]?(?=[.,]*+\d)[\d.,]++(?:e[+-]?\d++)?%?"  # a number
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ][\d:.]+\S*)?"  # a date
    r"|(?:https?|ftp)://\S+|www\.\S+|[^\s@]++@(?:[^\s@.]++\.)++\w++"  # an address
    r"|\S+\.(?:jpe?g|png|gif|tiff?|webp|svg|mp3|mp4|wav|pdf)",  # the name of a file
    re.IGNORECASE,
)

_BLANK = " \t\r\n\u00a0\ufeff"


def column_names(cells: Sequence[str]) -> list[str]:
    """The names in the first line. An empty one becomes column_3, a second ``title`` becomes title_2."""
    names: list[str] = []
    taken = {readable(cell).strip(_BLANK) for cell in cells}
    for number, cell in enumerate(cells, 1):
        name = readable(cell).strip(_BLANK) or f"column_{number}"
        names.append(_unused(name, taken) if name in names else name)
    return names


def _unused(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    taken.add(f"{name}_{number}")
    return f"{name}_{number}"


def looks_like_data(cells: Sequence[str]) -> bool:
    """Whether a first line holds numbers, dates, addresses, an empty cell or one text twice."""
    texts = [cell.strip() for cell in cells]
    return not all(texts) or len({*texts}) < len(texts) or any(map(_DATA.fullmatch, texts))


def widths(lines: Iterable[str], delimiter: str) -> list[int]:
    """How many cells each line has, taken by itself; lines without any text are left out."""
    return [len(cells) for line in lines for cells in csv.reader([line], delimiter=delimiter) if any(cells)]


def most_common_width(lines: Iterable[str], delimiter: str) -> int:
    """How many cells most lines have, at least one."""
    return max(Counter(widths(lines, delimiter)).most_common(1), default=(1, 0))[0]
