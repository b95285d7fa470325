"""What is written from the code is what the code says."""

from __future__ import annotations

import pytest
from support.checks.shows import shows

from bench.release.documents import stale, with_table

PAGE = "# Page\n\n| A | B |\n|---|---|\n| old | 1 |\n\nText.\n"


@shows("error-codes")
def test_settings_errors_and_metrics_are_those_of_the_code():
    assert stale() == [], "run: make documents"


def test_table_is_replaced_and_the_text_around_it_stays():
    made = with_table(PAGE, ("A", "B"), [("new", "2"), ("more", "")])
    assert made == "# Page\n\n| A | B |\n|---|---|\n| new | 2 |\n| more | |\n\nText.\n"
    assert with_table(made, ("A", "B"), [("old", "1")]) == PAGE


@pytest.mark.parametrize("page", ["# Page\n", PAGE + PAGE])
def test_page_without_its_one_table_is_an_error(page):
    with pytest.raises(ValueError, match="tables begin with"):
        with_table(page, ("A", "B"), [])
