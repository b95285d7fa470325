"""Files that owners bring, row by row: CSV, JSON (an array of objects), NDJSON (an object in each line).

``detect`` tells how a file is to be read, ``inspect`` reads it once and counts, ``read_rows`` yields its rows. All of
them wait for the disk: call them in a thread.
"""

from crowdd.features.imports.files.dialect import DELIMITERS, ENCODINGS, FORMATS, Dialect
from crowdd.features.imports.files.inspection import DOUBTS, Inspected, detect, inspect
from crowdd.features.imports.files.reading import read_rows
from crowdd.features.imports.files.rows import FileRow
from crowdd.features.imports.files.text import MAX_COLUMNS, MAX_ROW_BYTES, MAX_ROW_LINES

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
