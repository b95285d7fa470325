"""Times in words, short names from names."""

from datetime import UTC, datetime, timedelta

import pytest

from crowdd.core.text.words import ago
from crowdd.features.projects.project_validation import slug
from crowdd.kinds.names import RESERVED_SHORT_NAMES

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 86400


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 seconds ago"), (0, "0 seconds ago"), (1, "1 second ago"), (59, "59 seconds ago"), (60, "1 minute ago"),
        (3599, "59 minutes ago"), (3600, "1 hour ago"), (DAY - 1, "23 hours ago"), (DAY, "1 day ago"),
        (7 * DAY - 1, "6 days ago"), (7 * DAY, "1 week ago"), (30 * DAY, "1 month ago"), (364 * DAY, "12 months ago"),
        (365 * DAY, "1 year ago"), (3650 * DAY, "10 years ago"),
    ],
)  # fmt: skip
def test_how_long_ago(seconds, words):
    assert ago(NOW - timedelta(seconds=seconds), NOW) == words


def test_nothing_was_never():
    assert ago(None) is None


@pytest.mark.parametrize(
    ("name", "short"),
    [("Bird Song", "bird-song"), ("  Été à Köln! ", "ete-a-koln"), ("a--b__c", "a-b-c"), ("X" * 300, "x" * 100)],
)
def test_a_short_name_is_made_of_a_name(name, short):
    assert slug(name) == short


@pytest.mark.parametrize("name", ["", "鳥", "!!!", "-"])
def test_a_name_without_letters_gets_a_short_name_too(name):
    assert slug(name).startswith("project-") and slug(name) != slug(name) and slug(name) not in RESERVED_SHORT_NAMES
