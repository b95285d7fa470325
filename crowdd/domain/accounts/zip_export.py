"""A zip of tables, each as JSON and as CSV, written bit by bit so that size does not matter."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import orjson

from crowdd.domain.core.csv_escape import cell
from crowdd.kinds.kind import outward
from crowdd.storage.database import Row


class Table:
    """One table on its way: two files in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._json, self._csv = folder / f"{name}.json", folder / f"{name}.csv"
        self._any = False

    def add(self, rows: Sequence[Row]) -> None:
        """Appends rows; the first ones say which columns there are."""
        with self._json.open("ab") as out:
            for row in rows:
                out.write(b",\n" if self._any else b"[\n")
                out.write(orjson.dumps({name: outward(value) for name, value in row.items()}, default=str))
                self._begin(row)
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerows([cell(value) for value in row.values()] for row in rows)
        with self._csv.open("a", encoding="utf-8", newline="") as out_csv:
            out_csv.write(text.getvalue())

    def end(self) -> None:
        """Closes the array; without a row it is an empty one, and there is no CSV."""
        with self._json.open("ab") as out:
            out.write(b"\n]\n" if self._any else b"[]\n")

    def _begin(self, row: Row) -> None:
        if not self._any:
            self._any = True
            with self._csv.open("w", encoding="utf-8", newline="") as out:
                csv.writer(out).writerow(row)


def packed(folder: Path, target: Path) -> int:
    """Zips the files of a folder to a new file that only we may read; its size in bytes."""
    draft = target.with_suffix(".part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    draft.replace(target)
    return target.stat().st_size
