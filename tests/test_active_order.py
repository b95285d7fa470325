"""People and a model together: what is asked next by use names more pictures than chance does (bench/active_order.py)."""

import pytest

from bench import active_order


@pytest.mark.proof
def test_a_model_learns_and_asks_for_what_it_is_least_sure_of(live_server):
    by_use, by_chance = (
        active_order.learning(live_server.url, 7, share, rounds=4, each=25) for share in active_order.SHARES.values()
    )
    assert sum(by_use[2:]) > sum(by_chance[2:]) > 1.6
    assert by_use[-1] > by_use[0]
