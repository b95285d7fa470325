"""The rows of NDJSON: one JSON object in each line."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.transfer.task_files.file_row import FileRow, object_row


def ndjson_rows(blocks: Iterator[list[str]]) -> Iterator[FileRow]:
    """All rows, in order; a line without text is an empty row."""
    number = 0
    for block in blocks:
        for line in block:
            number += 1
            yield object_row(number, line) if line.strip() else FileRow(number, empty=True)
