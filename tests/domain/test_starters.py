"""The presenters that a project may begin with."""

from __future__ import annotations

import pytest

from crowdd.domain.starters.starters import STARTERS, Starter, starter
from crowdd.errors import NotFoundError

EACH = pytest.mark.parametrize("one", STARTERS, ids=lambda one: one.name)


@EACH
def test_it_shows_what_it_says_that_a_task_has(one: Starter) -> None:
    assert starter(one.name) is one
    assert all(f"task.info.{column}" in one.source for column in one.columns)
    assert set(one.sample) == set(one.columns)


@EACH
def test_it_fits_any_project_and_has_the_parts_of_the_design(one: Starter) -> None:
    assert 'location.pathname.split("/")[2]' in one.source
    for part in ('class="say"', 'class="answers"', "presenterBridge.offer", "crowdd:key", "I can’t tell", "thanks"):
        assert part in one.source


@EACH
def test_nothing_in_it_asks_another_site(one: Starter) -> None:
    assert "http" not in one.source


def test_there_is_no_other() -> None:
    with pytest.raises(NotFoundError):
        starter("../digits")
