"""The simulated day of ``bench.capacity``: nothing is lost on the way, and clusters are as few as keep within their load."""

from __future__ import annotations

import math
import random

import attrs
import pytest

from bench.capacity import Day, draw, needed, peak, place

DAY = Day(volunteers=200_000, projects=500)


@pytest.fixture(scope="module")
def projects():
    return draw(DAY, random.Random(3))


def whole(hours):
    return math.fsum(map(math.fsum, hours))


def test_people_give_the_answers_that_are_assumed_and_the_first_project_has_its_share(projects):
    assert whole(projects) == pytest.approx(DAY.volunteers * DAY.answers, rel=0.1)
    share = 1 / math.fsum(1 / rank for rank in range(1, DAY.projects + 1))
    assert math.fsum(projects[0]) / whole(projects) == pytest.approx(share, rel=0.15)


def test_clusters_have_all_answers_and_about_as_many_each(projects):
    clusters = place(projects, 4)
    assert whole(clusters) == pytest.approx(whole(projects))
    sums = [math.fsum(hours) for hours in clusters]
    assert max(sums) < 1.05 * min(sums)


def test_as_few_clusters_as_bear_the_busiest_minute(projects):
    one = needed(projects, 1e9, DAY)
    bears = 1.3 * peak(max(projects, key=max), DAY)
    several = needed(projects, bears, DAY)
    assert one == 1
    assert max(peak(hours, DAY) for hours in place(projects, several)) <= bears
    assert max(peak(hours, DAY) for hours in place(projects, several - 1)) > bears


def test_a_project_that_is_too_large_for_a_cluster_fits_on_no_number_of_them(projects):
    assert needed(projects, 0.9 * peak(max(projects, key=max), DAY), DAY) is None


def test_the_same_dice_draw_the_same_day_and_a_longer_tail_another():
    assert (
        draw(DAY, random.Random(3))
        == draw(DAY, random.Random(3))
        != draw(attrs.evolve(DAY, tail=1.2), random.Random(3))
    )
