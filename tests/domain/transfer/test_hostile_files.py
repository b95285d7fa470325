"""Hostile files are refused with a sentence, in little memory and time, and nothing of the server comes out of them."""

from __future__ import annotations

import pytest
from support.checks.hostile_files import FILES, HostileFile, examined, violations
from support.checks.proofs import examples
from support.checks.shows import shows

# These take longest. Of each way to need much memory there is another one.
DEAR = {
    "csv: a line of 60 MB", "csv: a quotation mark that never ends", "csv: gzip of 1 GB of zeros", "dwca: zip bomb",
    "json: a text of 60 MB", "observations: zip bomb", "ods: zip bomb", "parquet: a billion rows",
    "parquet: a dictionary that repeats a long value", "parquet: a page that unpacks to 310 MB",
    "xlsx: zip bomb that lies about its size", "zip: zip bomb",
}  # fmt: skip


@shows("page-import-hostile")
@examples(*{file.id.partition(":")[0]: file.id for file in FILES if file.id not in DEAR}.values())  # one of a format
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.id)
def test_a_hostile_file_is_refused_with_a_sentence_in_bounded_memory_and_time(file: HostileFile) -> None:
    assert violations(file, examined(file)) == []
