"""Which statements of docs/interface a test shows."""

from __future__ import annotations

import pytest


def shows(*anchors: str) -> pytest.MarkDecorator:
    """Mark a test as showing the statements with these anchors. ``tests/docs/test_interface.py`` finds each of them."""
    return pytest.mark.shows(*anchors)
