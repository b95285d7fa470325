"""Files that owners bring, row by row: CSV, JSON (an array of objects), NDJSON (an object in each line).

``detect`` tells how a file is to be read, ``inspect`` reads it once and counts, ``read_rows`` yields its rows. All of
them wait for the disk: call them in a thread.
"""

from crowdd.domain.transfer.task_files.detection import detect
from crowdd.domain.transfer.task_files.dialect import DELIMITERS, ENCODINGS, FORMATS, Dialect
from crowdd.domain.transfer.task_files.file_row import FileRow
from crowdd.domain.transfer.task_files.inspection import DOUBTS, Inspected, inspect
from crowdd.domain.transfer.task_files.limits import MAX_COLUMNS, MAX_ROW_BYTES, MAX_ROW_LINES
from crowdd.domain.transfer.task_files.reading import read_rows

__all__ = [
    "DELIMITERS",
    "DOUBTS",
    "ENCODINGS",
    "FORMATS",
    "MAX_COLUMNS",
    "MAX_ROW_BYTES",
    "MAX_ROW_LINES",
    "Dialect",
    "FileRow",
    "Inspected",
    "detect",
    "inspect",
    "read_rows",
]
