"""Every figure that a page tells is what a recount of the rows says, before and after counters are folded."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.figures.lively_site import Site, lively
from support.figures.of_people import of_people
from support.figures.of_projects import of_projects
from support.figures.of_site import of_site

_FALSE = (
    "UPDATE project_stat SET runs_anonymous = runs_anonymous + 1, tasks = tasks + 1",
    "UPDATE person_stat SET runs = runs + 1",
)


async def differences(site: Site, *checks: Any) -> list[str]:
    """What pages tell and the rows do not bear out."""
    return [
        f"{name}: {told} instead of {counted}"
        for check in checks
        async for name, told, counted in check(site)
        if told != counted
    ]


@pytest.mark.slow
@pytest_twisted.ensureDeferred
async def test_every_figure_is_that_of_the_rows_and_a_false_one_is_noticed(served):
    site = await lively(served)
    assert await differences(site, of_projects, of_site, of_people) == []
    await site.fold()
    assert await differences(site, of_projects, of_site, of_people) == []
    for statement in _FALSE:
        await served.database.execute(statement)
    told = " ".join(await differences(site, of_site))
    names = ("figures of home", "stats", "leaderboard", "admin's projects", "admin's users")
    assert [name for name in names if f"site: {name}" not in told] == []
