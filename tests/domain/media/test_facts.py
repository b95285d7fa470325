"""What a task is told of a prepared file."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdd.features.batches.made_files import facts_of
from crowdd.features.media.prepared import Kind, Prepared, PreparedFile, Role
from crowdd.features.media.store import MediaNames

NAMES = MediaNames(b"k" * 32)


def made(role: Role, width: int, height: int, page: int = 0) -> PreparedFile:
    return PreparedFile(role, Path("x"), "image/jpeg", ".jpg", 10, "a" * 64, width, height, page)


@pytest.mark.parametrize(
    ("kind", "shown", "whole", "told"),
    [
        ("picture", (2400, 1800), (12_000, 9_000), (12_000, 9_000)),
        ("picture", (800, 600), (800, 600), None),  # as it came
        ("video", (640, 480), (1280, 960), None),
    ],
)
def test_the_size_of_the_original_is_told_where_the_picture_is_a_reduced_copy(
    kind: Kind, shown: tuple[int, int], whole: tuple[int, int], told: tuple[int, int] | None
) -> None:
    facts = facts_of(NAMES, 1, Prepared(kind, "image/jpeg", (made("web", *shown),), *whole))
    assert (facts["width"], facts["height"]) == shown
    assert (facts.get("original_width"), facts.get("original_height")) == (told or (None, None))


def test_a_page_has_its_own_size_only() -> None:
    facts = facts_of(NAMES, 1, Prepared("document", "image/tiff", (made("page", 500, 700, 1),), 0, 0, pages=1), page=1)
    assert facts["width"] == 500 and "original_width" not in facts
