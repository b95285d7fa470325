"""Hostile files are refused with a sentence, in little memory and time, and nothing of the server comes out of them."""

from __future__ import annotations

import pytest
from support.checks.hostile_files import FILES, HostileFile, examined, violations
from support.checks.shows import shows


@shows("page-import-hostile")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.id)
def test_a_hostile_file_is_refused_with_a_sentence_in_bounded_memory_and_time(file: HostileFile) -> None:
    assert violations(file, examined(file)) == []
