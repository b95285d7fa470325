from pathlib import Path

import pytest
from domain.media.preparing import Prepare


@pytest.fixture
def prepare(tmp_path: Path) -> Prepare:
    folder = tmp_path / "prepared"
    folder.mkdir()
    return Prepare(folder)
