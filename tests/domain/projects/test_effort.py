"""How long volunteers need for a project: the pace of one of them, and the time in words."""

from __future__ import annotations

import pytest

from crowdd.features.publishing.publishing import Duration, Pace, Seen, days_needed, estimate_pace, round_days


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (Seen(10, 140, 500, 8.0, False), Pace(14, "days", 10)),
        (Seen(4, 140, 40, 12.0, False), Pace(50, "answers", 40, 12.0)),  # too few days
        (Seen(10, 140, 3, 20.0, True), Pace(30, "trials", 3, 20.0)),  # the owner's own days are no volunteer's
        (Seen(0, 0, 0, None, False), Pace(20, "assumed", 0, 30)),
        (Seen(0, 0, 2, 0.01, True), Pace(600, "trials", 2, 1.0)),  # a click before anything was looked at
        (Seen(0, 0, 1, 86_400.0, True), Pace(600 / 3600, "trials", 1, 3600.0)),  # a page left open
    ],
)
def test_the_pace_is_from_days_then_from_durations_then_assumed(seen, expected):
    assert estimate_pace(seen) == expected


def test_nobody_gives_more_answers_than_there_are_tasks():
    assert days_needed(8400, 2800, 20, 20) == 21
    assert days_needed(90, 3, 20, 20) == 1.5  # 3 tasks with 30 answers: 20 people give 60 a day, not 400
    assert days_needed(0, 3, 20, 20) == days_needed(5, 0, 20, 20) == 0


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0.01, Duration(0, "hours")), (0.3, Duration(8, "hours")), (1, Duration(1, "days")), (1.2, Duration(2, "days")),
        (13.9, Duration(14, "days")), (21, Duration(3, "weeks")), (22, Duration(4, "weeks")), (213, Duration(7, "months")),
        (3000, Duration(9, "years")),
    ],
)  # fmt: skip
def test_a_time_is_rounded_up_in_the_unit_that_people_use(days, expected):
    assert round_days(days) == expected
