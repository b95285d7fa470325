"""When a delivery is tried again and when it is given up."""

from __future__ import annotations

import pytest
from support.checks.shows import shows

from crowdd.sched.webhook_retries import (
    ATTEMPTS,
    MAX_IN_FLIGHT,
    DeliveryFailure,
    ReceiverHealth,
    after_failure,
    delay,
    room,
)

DAY = 86_400


def verdict(attempts=1, failures=0, *, overlapping=False, active=True, failure=None, chance=0.5):
    return after_failure(
        failure or DeliveryFailure(),
        attempts,
        ReceiverHealth(failures, active, overlapping),
        first=5,
        chance=chance,
    )


@shows("delivery-retries")
def test_ten_attempts_take_about_three_days():
    pauses = [delay(attempts, 5, 0.5) for attempts in range(1, ATTEMPTS)]
    assert pauses == [5, 25, 125, 625, 3125, 15625, 78125, DAY, DAY]
    assert 3 * DAY < sum(pauses) < 3.3 * DAY
    assert delay(10_000, 5, 0.5) == DAY


@pytest.mark.parametrize(("chance", "seconds"), [(0, 21.25), (0.5, 25), (1, 28.75)])
def test_chance_spreads_them(chance, seconds):
    assert delay(2, 5, chance) == pytest.approx(seconds)


def test_the_first_delay_is_the_measure_of_all():
    assert delay(9, 0.001, 0.5) == pytest.approx(delay(9, 5, 0.5) / 5000)


def test_an_attempt_that_fails_is_followed_by_another_until_the_tenth():
    for attempts in range(1, ATTEMPTS):
        made = verdict(attempts, attempts - 1)
        assert (made.given_up, made.off, made.failures) == (False, False, attempts)
        assert made.delay == delay(attempts, 5, 0.5)
    last = verdict(ATTEMPTS, ATTEMPTS - 1)
    assert (last.given_up, last.off, last.failures) == (False, True, ATTEMPTS), "it waits until the webhook is on again"


def test_one_that_nobody_takes_while_others_arrive_ends_alone():
    made = verdict(ATTEMPTS, 0)
    assert (made.given_up, made.off) == (True, False)


def test_a_dead_receiver_is_left_though_each_delivery_was_tried_once():
    made = verdict(1, ATTEMPTS - 1)
    assert (made.given_up, made.off) == (False, True)


def test_those_that_failed_together_count_as_one():
    assert verdict(failures=1, overlapping=True).failures == 1
    assert verdict(failures=1).failures == 2
    assert verdict(failures=0, overlapping=True).failures == 1


def test_410_ends_it_at_once_and_the_delivery_waits():
    made = verdict(failure=DeliveryFailure(gone=True))
    assert (made.given_up, made.off) == (False, True)


def test_a_last_attempt_that_ends_after_the_webhook_was_switched_off_waits():
    made = verdict(ATTEMPTS, 1, overlapping=True, active=False)
    assert (made.given_up, made.off) == (False, False)


@shows("delivery-retries")
@pytest.mark.parametrize(("asked", "seconds"), [(0, 5), (3, 5), (60, 60), (10**6, DAY)])
def test_a_receiver_that_asks_for_time_gets_a_day_at_most(asked, seconds):
    assert verdict(failure=DeliveryFailure(wait=asked)).delay == seconds


def test_a_receiver_has_eight_and_fewer_when_many_are_slow():
    assert room(0, 0) == 8 and room(3, 3) == 5 and room(8, 8) == 0
    assert room(0, MAX_IN_FLIGHT // 2) == 2 and room(3, MAX_IN_FLIGHT // 2) == 0
    assert room(0, MAX_IN_FLIGHT - 1) == 1 and room(0, MAX_IN_FLIGHT) == 0
