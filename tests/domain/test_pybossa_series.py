"""Two weeks as series: tables of cases."""

from __future__ import annotations

from datetime import UTC, date, datetime

from crowdd.features.statistics.statistics import dates_stats, days, hours_stats, per_day, users_stats

SINCE = date(2026, 2, 25)


def hour(text, anonymous=0, authenticated=0, completed=0):
    return {"hour": text, "runs_anonymous": anonymous, "runs_authenticated": authenticated, "completed": completed}


def test_fourteen_days_over_the_end_of_a_month():
    assert (days(SINCE)[0], days(SINCE)[4], days(SINCE)[-1], len(days(SINCE))) == (
        SINCE, date(2026, 3, 1), date(2026, 3, 10), 14,
    )  # fmt: skip


def test_an_hour_belongs_to_its_day_in_utc_whatever_its_zone():
    hours = [
        hour("2026-02-25T00:00:00+00:00", 1),
        hour("2026-02-26T01:30:00+02:00", 2),
        hour(datetime(2026, 3, 10, 23, tzinfo=UTC), 4),
    ]
    assert per_day(hours, SINCE, lambda one: one["runs_anonymous"]) == [3, *[0] * 12, 4]


def test_what_lies_outside_is_left_out():
    hours = [hour("2026-02-24T23:00:00+00:00", 1), hour("2026-03-11T00:00:00+00:00", 1)]
    assert sum(per_day(hours, SINCE, lambda one: one["runs_anonymous"])) == 0


def test_completed_tasks_add_up_to_what_is_done_now():
    hours = [hour("2026-02-26T00:00:00+00:00", completed=3), hour("2026-03-01T00:00:00+00:00", completed=-1)]
    counts = [count for _, count in dates_stats(hours, SINCE, 10)[3]["values"]]
    assert counts == [8, 11, 11, 11, *[10] * 10]


def test_hours_are_scaled_to_five():
    whole, anonymous, authenticated = hours_stats(
        [
            hour("2026-03-01T07:00:00+00:00", 2, 6),
            hour("2026-03-02T07:00:00+00:00", 2),
            hour("2026-03-02T08:00:00+00:00", 1),
        ]
    )
    assert whole["values"][7] == [7, 10, 5] and whole["values"][8] == [8, 1, 0.5] and whole["values"][0] == [0, 0, 0]
    assert (whole["max"], anonymous["max"], authenticated["max"]) == (10, 4, 6)


def test_without_answers_all_is_nothing():
    assert all(value == [n, 0, 0] for one in hours_stats([]) for n, value in enumerate(one["values"]))
    assert users_stats(0, 0, [], [])["anon"] == {"label": "Anonymous Users", "values": [], "top5": [], "locs": []}
