"""When a project will be done: tables of cases."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from crowdd.features.statistics.statistics import estimate

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
TODAY = NOON.date()
LONG_AGO = NOON - timedelta(days=100)


@pytest.mark.parametrize(
    ("remaining", "days", "per_day", "after"),
    [
        (100, [10] * 13 + [5], 10, 10),  # half of today is over
        (1000, [100] * 13 + [50], 100, 10),
        (5, [10] * 13 + [5], 10, 0),  # still today
        (30, [0] * 12 + [20, 7], 2, 15),
        (600, [30, 0] * 6 + [30, 15], 16.66667, 36),
    ],
)
def test_the_expected_day_follows_the_average(remaining, days, per_day, after):
    forecast = estimate(remaining, days, NOON, LONG_AGO)
    assert forecast.per_day == pytest.approx(per_day, rel=1e-5)
    assert abs((forecast.expected - TODAY).days - after) <= 1
    assert forecast.earliest <= forecast.expected <= (forecast.latest or date.max)


@pytest.mark.parametrize(
    ("remaining", "days"), [(0, [10] * 14), (-3, [10] * 14), (100, [0] * 14), (100, [-2] * 14), (10**9, [0] * 13 + [1])]
)
def test_where_nothing_can_be_said_nothing_is(remaining, days):
    assert estimate(remaining, days, NOON, LONG_AGO) is None


@pytest.mark.parametrize(
    ("days", "hours"),
    [
        ([1], 0),
        ([56], 1),
        ([900, 900], 24),
        ([900, 900, 900], 47),
        ([0] * 12 + [500, 0], 2400),
        ([0] * 13 + [500], 2400),
    ],
)
def test_hours_and_single_days_are_no_pace(days, hours):
    assert estimate(10, days, NOON, NOON - timedelta(hours=hours)) is None
    assert estimate(10, [20, 20, 10], NOON, NOON - timedelta(hours=48)).per_day == pytest.approx(25)


def test_even_days_have_a_narrow_spread_and_uneven_ones_a_wide_one():
    even = estimate(10_000, [500] * 13 + [250], NOON, LONG_AGO)
    uneven = estimate(10_000, [900, 100] * 6 + [900, 250], NOON, LONG_AGO)
    assert (even.latest - even.earliest).days < (uneven.latest - uneven.earliest).days / 3
    assert even.earliest <= TODAY + timedelta(days=20) <= even.latest


def test_two_good_days_in_two_weeks_have_no_latest_day():
    forecast = estimate(10_000, [0] * 11 + [10, 500, 0], NOON, LONG_AGO)
    assert forecast.latest is None
    assert forecast.earliest < forecast.expected


def test_four_of_five_simulated_projects_end_within_the_spread():
    import random

    dice = random.Random(7)
    within = 0
    for _ in range(400):
        days = [dice.randint(50, 150) for _ in range(14)]
        forecast = estimate(2000, days, NOON.replace(hour=23, minute=59), LONG_AGO)
        left, n = 2000, 0
        while left > 0:
            left -= dice.randint(50, 150)
            n += 1
        within += forecast.earliest <= TODAY + timedelta(days=n) <= forecast.latest
    assert 0.72 < within / 400 < 0.97
