"""Counting per window."""

import pytest
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import Clock

from crowdd.http import limits
from crowdd.http.heads import ready
from crowdd.http.limits import RateLimit, SharedWindow, Window, block


def clock_at(seconds):
    clock = Clock()
    clock.advance(seconds)
    return clock


def take(limit, *words):
    """What a limit that waits for nobody says."""
    taken = ensureDeferred(limit.take(*words))
    assert taken.called
    return taken.result


def test_as_many_as_allowed_pass_and_the_next_does_not():
    window = Window(clock_at(1_000_000), 3, 900)
    taken = [window.take("a") for _ in range(5)]
    assert [t.allowed for t in taken] == [True, True, True, False, False]
    assert [t.remaining for t in taken] == [2, 1, 0, 0, 0]
    assert {t.reset for t in taken} == {1_000_800} and taken[0].limit == 3


def test_keys_do_not_share():
    window = Window(clock_at(0), 1, 900)
    assert [window.take(key).allowed for key in ("a", "b", "a", ("a", 1))] == [True, True, False, True]


def test_a_window_ends_at_a_multiple_of_its_length_and_counts_anew():
    clock = clock_at(899)
    window = Window(clock, 1, 900)
    assert (window.take("a").reset, window.take("a").allowed) == (900, False)
    clock.advance(0.999)
    assert not window.take("a").allowed
    clock.advance(0.001)
    fresh = window.take("a")
    assert (fresh.allowed, fresh.reset) == (True, 1800)
    clock.advance(5000)
    assert window.take("a").allowed


def test_a_limit_of_nothing_allows_everything():
    window = Window(clock_at(0), 0, 900)
    assert all(window.take("a").allowed for _ in range(1000))


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(limits, "MOST_KEYS", 10)
    window = Window(clock_at(0), 5, 900)
    assert all(window.take(f"known{n}").allowed for n in range(10))
    for number in range(20_000):
        window.take(f"stranger{number}")
    assert len(window._used) <= 10 + limits._BUCKETS
    assert window.take("known1").allowed and not window.take("stranger1").allowed


def test_clients_with_cookies_have_their_own_count_below_a_common_ceiling():
    limit = RateLimit(clock_at(0), 2, 900, room=2)
    assert [take(limit, "task", "a", f"c{n}").allowed for n in (1, 1, 1, 2, 2, 3)] == [
        True,
        True,
        False,
        True,
        True,
        False,
    ]
    assert take(limit, "task", "a", "").allowed and take(limit, "project", "a", "c3").allowed
    assert take(limit, "task", "b", "c3").allowed
    refused = take(limit, "task", "a", "c4")
    assert (refused.allowed, refused.remaining, refused.reset) == (False, 0, 900)


def test_a_project_whose_presenter_used_up_its_share_leaves_the_rest_of_its_visitor_alone():
    limit = RateLimit(clock_at(0), 2, 900, room=40)
    assert [take(limit, "task", "a", "c", 7).allowed for _ in range(4)] == [True, True, False, False]
    assert take(limit, "task", "a", "c").remaining == 1
    assert take(limit, "task", "a", "c", 8).remaining == 1
    assert take(limit, "project", "a", "c", 7).remaining == 1


def test_inventing_projects_gains_one_limit_for_each_of_the_first_few_and_one_for_all_others():
    limit = RateLimit(clock_at(0), 2, 900, room=1000)
    allowed = sum(take(limit, "task", "a", cookie, n).allowed for cookie in ("", "c") for n in range(1000))
    assert allowed == 2 * (limits.MAX_PROJECTS + 2)  # each was asked for once, and two of the others passed
    assert sum(take(limit, "task", "a", "", n).allowed for n in range(1000)) == limits.MAX_PROJECTS
    assert len(limit._presenters._used) == 2 * (limits.MAX_PROJECTS + 1)


def test_presenters_stay_below_the_ceiling_of_an_address_also_without_cookies():
    limit = RateLimit(clock_at(0), 2, 900, room=2)
    assert sum(take(limit, "task", "a", "", project).allowed for project in (1, 2, 3) for _ in range(2)) == 4
    assert take(limit, "task", "b", "", 1).allowed


def test_projects_are_known_for_one_window(monkeypatch):
    monkeypatch.setattr(limits, "MOST_KEYS", 2)
    shares = limits.ProjectShares()
    assert [shares.place("a", n, 900) for n in (1, 2, 3, 4, 5, 1)] == [1, 2, 3, 4, -1, 1]
    assert [shares.place(key, 1, 900) for key in ("b", "c")] == [1, -1]  # memory is bounded
    assert shares.place("c", 5, 1800) == 5


@pytest.mark.parametrize(("limit", "active"), [(0, False), (1, True)])
def test_nothing_is_counted_when_it_is_off(limit, active):
    assert RateLimit(clock_at(0), limit, 900, room=1).active is active


def test_the_three_headers():
    headers = Window(clock_at(10), 300, 900).take("a").headers()
    expected = {"X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "299", "X-RateLimit-Reset": "900"}
    assert headers == ready(expected)


class Ledger:
    """What processes tell each other: counts by key and window; ``held`` answers wait until they are let go."""

    def __init__(self):
        self.counts, self.told, self.away, self.held = {}, 0, False, None

    async def add(self, key, end, more):
        self.told += 1
        if self.held is not None:
            place = Deferred()
            self.held.append(place)
            await place
        if self.away:
            raise RuntimeError("away")
        self.counts[key, end] = self.counts.get((key, end), 0) + more
        return self.counts[key, end]


def processes(number, limit=30, told=5, clock=None):
    ledger, clock = Ledger(), clock or clock_at(0)
    return ledger, [SharedWindow(Window(clock, limit, 900), ledger.add, told) for _ in range(number)]


@pytest.mark.parametrize("turns", ["in turn", "one after the other", "all to one"])
def test_several_processes_admit_the_limit_and_a_few_more(turns):
    ledger, shared = processes(3)
    order = {"in turn": [0, 1, 2] * 40, "one after the other": [0] * 40 + [1] * 40 + [2] * 40, "all to one": [1] * 120}
    admitted = sum(take(shared[n], "a").allowed for n in order[turns])
    assert 30 <= admitted <= 30 + 3 * 4
    assert ledger.told <= 3 + 30 // 5 + 3


def test_who_is_refused_costs_no_further_writes():
    ledger, (one,) = processes(1)
    assert sum(take(one, "a").allowed for _ in range(30)) == 30
    before = ledger.told
    assert not any(take(one, "a").allowed for _ in range(100)) and ledger.told - before <= 1


def test_those_behind_wait_for_what_the_others_have():
    ledger, (one, other) = processes(2, limit=10)
    for _ in range(10):
        take(other, "a")
    ledger.held = []
    asked = [ensureDeferred(one.take("a")) for _ in range(8)]
    assert [each.called for each in asked] == [True] * 4 + [False] * 4 and len(ledger.held) == 1
    ledger.held.pop().callback(None)
    assert [each.result.allowed for each in asked] == [True] * 4 + [False] * 4


def test_while_the_database_is_away_each_counts_alone():
    ledger, shared = processes(2)
    ledger.away = True
    assert [sum(take(each, "a").allowed for _ in range(50)) for each in shared] == [30, 30]


def test_a_new_window_begins_with_nothing():
    clock = clock_at(0)
    _, shared = processes(2, clock=clock)
    assert [take(each, "a").allowed for each in shared for _ in range(60)].count(True) < 45
    clock.advance(900)
    assert all(take(each, "a").allowed for each in shared for _ in range(10))


def test_strangers_without_number_are_no_memory_without_bound(monkeypatch):
    monkeypatch.setattr(limits, "MOST_KEYS", 10)
    _, (one,) = processes(1)
    for number in range(5000):
        take(one, f"stranger{number}")
    assert len(one._untold) <= 10 + limits._BUCKETS


@pytest.mark.parametrize(("limit", "told"), [(1, 1), (30, 1), (300, 10), (12_000, 100)])
def test_how_often_processes_tell_each_other(limit, told):
    assert block(limit) == told
