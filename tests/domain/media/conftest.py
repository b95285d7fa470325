from collections.abc import Iterator
from pathlib import Path

import pytest
from domain.media.preparing import Prepare

from crowdd.features.media.preparation import Helper


@pytest.fixture(scope="session")
def helper() -> Iterator[Helper]:
    """One for all tests: each file has its own process."""
    helper = Helper()
    yield helper
    helper.end()


@pytest.fixture
def prepare(tmp_path: Path, helper: Helper) -> Prepare:
    folder = tmp_path / "prepared"
    folder.mkdir()
    return Prepare(folder, helper)
