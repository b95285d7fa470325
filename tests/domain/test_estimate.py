"""When a project will be done: tables of cases."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from crowdd.domain.estimate import estimate

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
TODAY = NOON.date()


@pytest.mark.parametrize(
    ("remaining", "days", "per_day", "after"),
    [
        (100, [10] * 13 + [5], 10, 10),  # half of today is over
        (1000, [100] * 13 + [50], 100, 10),
        (5, [10] * 13 + [5], 10, 0),  # still today
        (30, [0] * 12 + [20, 7], 2, 15),
        (10, [4], 8, 1),  # it began this morning
        (600, [30, 0] * 6 + [30, 15], 16.66667, 36),
    ],
)
def test_the_expected_day_follows_the_average(remaining, days, per_day, after):
    found = estimate(remaining, days, NOON)
    assert found.per_day == pytest.approx(per_day, rel=1e-5)
    assert abs((found.expected - TODAY).days - after) <= 1
    assert found.earliest <= found.expected <= (found.latest or date.max)


@pytest.mark.parametrize(
    ("remaining", "days"), [(0, [10] * 14), (-3, [10] * 14), (100, [0] * 14), (100, [-2] * 14), (10**9, [0] * 13 + [1])]
)
def test_where_nothing_can_be_said_nothing_is(remaining, days):
    assert estimate(remaining, days, NOON) is None


def test_in_the_first_second_of_a_project_nothing_can_be_said():
    assert estimate(10, [1], NOON.replace(hour=0)) is None


def test_even_days_have_a_narrow_spread_and_uneven_ones_a_wide_one():
    even = estimate(10_000, [500] * 13 + [250], NOON)
    uneven = estimate(10_000, [900, 100] * 6 + [900, 250], NOON)
    assert (even.latest - even.earliest).days < (uneven.latest - uneven.earliest).days / 3
    assert even.earliest <= TODAY + timedelta(days=20) <= even.latest


def test_one_good_day_in_two_weeks_has_no_latest_day():
    found = estimate(10_000, [0] * 12 + [500, 0], NOON)
    assert found.latest is None
    assert found.earliest < found.expected


def test_four_of_five_simulated_projects_end_within_the_spread():
    import random

    dice = random.Random(7)
    within = 0
    for _ in range(400):
        days = [dice.randint(50, 150) for _ in range(14)]
        found = estimate(2000, days, NOON.replace(hour=23, minute=59))
        left, n = 2000, 0
        while left > 0:
            left -= dice.randint(50, 150)
            n += 1
        within += found.earliest <= TODAY + timedelta(days=n) <= found.latest
    assert 0.72 < within / 400 < 0.97
