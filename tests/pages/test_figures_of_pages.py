"""Every figure that a page tells is what a recount of the rows says, before and after counters are folded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import pytest_twisted
from support.figures.lively_site import SETTINGS, Site, lively
from support.figures.of_charts import of_charts
from support.figures.of_fields import of_fields
from support.figures.of_imports import of_imports
from support.figures.of_lists import of_lists
from support.figures.of_logs import of_logs
from support.figures.of_people import of_people
from support.figures.of_projects import of_projects
from support.figures.of_site import of_site
from support.figures.of_trust import of_trust
from support.figures.of_webhooks import of_webhooks
from support.servers.receiver import Receiver

_COUNTED = (of_site, of_people, of_charts, of_fields, of_trust)  # from counters that are folded
_LISTED = (of_lists, of_logs, of_webhooks, of_imports)
_FOLDED = ("birds", "draft")  # whose pages are read again
_FALSE = (
    "UPDATE project_stat SET runs_anonymous = runs_anonymous + 1, tasks = tasks + 1",
    "UPDATE person_stat SET runs = runs + 1",
    "UPDATE project_hour SET runs_anonymous = runs_anonymous + 1",
    "UPDATE outcome_count SET tasks = tasks + 1 WHERE field IN (2, 3)",
    'UPDATE trust_model SET saved = saved + 1, "full" = "full" + 1',
    "UPDATE reliability SET peer_right = peer_right / 2",
)
_NOTICED = (
    "site: figures of home", "site: stats", "site: figures of stats", "site: leaderboard", "site: admin's projects",
    "site: admin's users", "site: answers of globalstats", "birds: table of Answers on each of the last 14 days", "figures of ada",
    "cats: reasons", "cats: answers saved", "cats: agreement of", "cats: results of how many", "cats: Tasks by their consensus: seen",
)  # fmt: skip


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


async def differences(site: Site, *checks: Any) -> list[str]:
    """What pages tell and the rows do not bear out."""
    return [
        f"{name}: {shown} instead of {counted}"
        for check in checks
        async for name, shown, counted in check(site)
        if shown != counted
    ]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_every_figure_is_that_of_the_rows_and_a_false_one_is_noticed(serve, receiver):
    served = await serve(**SETTINGS)
    site = await lively(served, receiver)
    assert await differences(site, of_projects, *_COUNTED, *_LISTED) == []
    await site.fold()
    assert await differences(site, partial(of_projects, names=_FOLDED), *_COUNTED) == []
    for statement in _FALSE:
        await served.database.execute(statement)
    report = " ".join(await differences(site, *_COUNTED))
    assert [name for name in _NOTICED if name not in report] == []
