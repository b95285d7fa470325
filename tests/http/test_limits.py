"""Counting per window."""

import pytest
from support.checks.shows import shows
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import Clock

from crowdd.http.edge import rate_limits
from crowdd.http.edge.headers import encode
from crowdd.http.edge.rate_limits import (
    BROWSER,
    KEY,
    LimitedClient,
    Limits,
    RateLimit,
    SharedWindow,
    Window,
    flush_every,
)


def clock_at(seconds):
    clock = Clock()
    clock.advance(seconds)
    return clock


def take(limit, *words):
    """What a limit that waits for nobody says."""
    taken = ensureDeferred(limit.take(*words))
    assert taken.called
    return taken.result


def rate_limit(limit, shared_address_factor, key_limit=2):
    return RateLimit(clock_at(0), Limits(limit, key_limit, 900, shared_address_factor))


def ask(limit, endpoint, network, cookie="", project=None):
    """A request of a browser with a cookie, or of somebody without."""
    client = LimitedClient(network, BROWSER, cookie, project) if cookie else LimitedClient(network, project=project)
    return take(limit, endpoint, client)


def ask_with_key(limit, key, network="a", endpoint="task"):
    return take(limit, endpoint, LimitedClient(network, KEY, key))


def test_as_many_as_allowed_pass_and_the_next_does_not():
    window = Window(clock_at(1_000_000), 3, 900)
    taken = [window.take("a") for _ in range(5)]
    assert [t.allowed for t in taken] == [True, True, True, False, False]
    assert [t.remaining for t in taken] == [2, 1, 0, 0, 0]
    assert {t.reset for t in taken} == {1_000_800} and taken[0].limit == 3


def test_keys_do_not_share():
    window = Window(clock_at(0), 1, 900)
    assert [window.take(key).allowed for key in ("a", "b", "a", ("a", 1))] == [True, True, False, True]


def test_a_window_ends_at_a_multiple_of_its_length_and_counts_again():
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
    monkeypatch.setattr(rate_limits, "MAX_KEYS", 10)
    window = Window(clock_at(0), 5, 900)
    assert all(window.take(f"known{n}").allowed for n in range(10))
    for number in range(20_000):
        window.take(f"stranger{number}")
    assert len(window._used) <= 10 + rate_limits._BUCKETS
    assert window.take("known1").allowed and not window.take("stranger1").allowed


def test_clients_with_cookies_have_their_own_count_below_a_common_ceiling():
    limit = rate_limit(2, shared_address_factor=2)
    assert [ask(limit, "task", "a", f"c{n}").allowed for n in (1, 1, 1, 2, 2, 3)] == [
        True,
        True,
        False,
        True,
        True,
        False,
    ]
    assert ask(limit, "task", "a", "").allowed and ask(limit, "project", "a", "c3").allowed
    assert ask(limit, "task", "b", "c3").allowed
    refused = ask(limit, "task", "a", "c4")
    assert (refused.allowed, refused.remaining, refused.reset) == (False, 0, 900)


def test_a_project_whose_presenter_used_up_its_share_leaves_the_rest_of_its_visitor_alone():
    limit = rate_limit(2, shared_address_factor=40)
    assert [ask(limit, "task", "a", "c", 7).allowed for _ in range(4)] == [True, True, False, False]
    assert ask(limit, "task", "a", "c").remaining == 1
    assert ask(limit, "task", "a", "c", 8).remaining == 1
    assert ask(limit, "project", "a", "c", 7).remaining == 1


def test_a_key_has_a_window_of_its_own_wherever_it_is_used():
    limit = rate_limit(2, shared_address_factor=40, key_limit=3)
    assert [ask_with_key(limit, "k", network).allowed for network in "abcd"] == [True, True, True, False]
    assert [ask(limit, "task", "a").allowed for _ in range(3)] == [True, True, False]
    assert ask_with_key(limit, "other").allowed and ask_with_key(limit, "k", endpoint="project").allowed
    assert (ask_with_key(limit, "third").limit, ask_with_key(limit, "third").scope) == (3, "key")
    assert ask(limit, "task", "a").scope == "network" and ask(limit, "task", "a", "c").scope == "browser"


def test_many_keys_of_one_network_have_a_ceiling_that_browsers_do_not_share():
    limit = rate_limit(2, shared_address_factor=2)
    allowed = [ask_with_key(limit, f"k{number}") for number in range(10)]
    assert sum(each.allowed for each in allowed) == 4
    assert (allowed[-1].scope, allowed[-1].limit, allowed[-1].remaining) == ("network", 4, 0)
    assert ask_with_key(limit, "k0", network="b").allowed
    assert ask(limit, "task", "a", "cookie").allowed and ask(limit, "task", "a").allowed
    assert sum(ask(limit, "task", "c", f"cookie{n}").allowed for n in range(10)) == 4
    assert ask_with_key(limit, "k9", network="c").allowed


def test_new_limits_hold_for_keys_too():
    limit = rate_limit(2, shared_address_factor=40, key_limit=1)
    assert [ask_with_key(limit, "k").allowed for _ in range(2)] == [True, False]
    limit.use(Limits(2, 4, 900, 40))
    assert [ask_with_key(limit, "k").allowed for _ in range(3)] == [True, True, False]


def test_inventing_projects_gains_one_limit_for_each_of_the_first_few_and_one_for_all_others():
    limit = rate_limit(2, shared_address_factor=1000)
    allowed = sum(ask(limit, "task", "a", cookie, n).allowed for cookie in ("", "c") for n in range(1000))
    assert allowed == 2 * (rate_limits.MAX_PROJECTS + 2)  # each was asked for once, and two of the others passed
    assert sum(ask(limit, "task", "a", "", n).allowed for n in range(1000)) == rate_limits.MAX_PROJECTS
    assert len(limit._plain["presenters"]._used) == 2 * (rate_limits.MAX_PROJECTS + 1)


def test_presenters_stay_below_the_ceiling_of_an_address_also_without_cookies():
    limit = rate_limit(2, shared_address_factor=2)
    assert sum(ask(limit, "task", "a", "", project).allowed for project in (1, 2, 3) for _ in range(2)) == 4
    assert ask(limit, "task", "b", "", 1).allowed


def test_projects_are_known_for_one_window(monkeypatch):
    monkeypatch.setattr(rate_limits, "MAX_KEYS", 2)
    shares = rate_limits.ProjectShares()
    assert [shares.counted_as("a", n, 900) for n in (1, 2, 3, 4, 5, 1)] == [1, 2, 3, 4, -1, 1]
    assert [shares.counted_as(key, 1, 900) for key in ("b", "c")] == [1, -1]  # memory is bounded
    assert shares.counted_as("c", 5, 1800) == 5


@pytest.mark.parametrize(("limit", "active"), [(0, False), (1, True)])
def test_nothing_is_counted_when_it_is_off(limit, active):
    assert rate_limit(limit, shared_address_factor=1).active is active


def test_the_three_headers():
    headers = Window(clock_at(10), 300, 900).take("a").headers()
    expected = {"X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "299", "X-RateLimit-Reset": "900"}
    expected["X-RateLimit-Scope"] = "network"
    assert headers == encode(expected)


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


@shows("limit-rate-processes")
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
    monkeypatch.setattr(rate_limits, "MAX_KEYS", 10)
    _, (one,) = processes(1)
    for number in range(5000):
        take(one, f"stranger{number}")
    assert len(one._untold) <= 10 + rate_limits._BUCKETS


@shows("limit-rate-processes")
@pytest.mark.parametrize(("limit", "told"), [(1, 1), (30, 1), (300, 10), (12_000, 100)])
def test_how_often_processes_tell_each_other(limit, told):
    assert flush_every(limit) == told
