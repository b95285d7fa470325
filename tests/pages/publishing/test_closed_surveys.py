"""Projects that ask people for opinions: closed until their owner opens them."""

from __future__ import annotations

import pytest_twisted
from support.browsers import signed_in

HTML = {"Accept": "text/html"}


@pytest_twisted.ensureDeferred
async def test_a_survey_is_closed_by_default_and_publishing_asks(served):
    await served.person("ada")
    browser = await signed_in(served, "ada")
    await browser.send_form("/project/new", {"template": "survey", "name": "Our town"})
    await browser.send_form("/templates/survey/use", {"name": "Their town"}, token_from="/templates/survey")
    await browser.send_form("/project/new", {"template": "boxes", "name": "Our lake"})
    rows = await served.database.fetch("SELECT id, short_name, zip_download FROM project ORDER BY id")
    assert [row["zip_download"] for row in rows] == [False, False, True]
    survey, _, lake = (f"/project/{row['short_name']}" for row in rows)
    page = (await browser.get(f"{survey}/publish", headers=HTML)).text
    assert 'value="closed" required checked' in page
    assert 'name="answers"' not in (await browser.get(f"{lake}/publish", headers=HTML)).text
    await served.database.execute(
        'SELECT add_tasks(%(id)s, \'[{"info": {}, "n_answers": 1, "quorum": 0, "priority_0": 0, "calibration": 0}]\', clock())',
        {"id": rows[0]["id"]},
    )
    await browser.send_form(f"{survey}/publish", {"answers": "open"}, token_from=f"{survey}/publish")
    (row,) = await served.database.fetch(
        "SELECT published, zip_download FROM project WHERE id = %(id)s", {"id": rows[0]["id"]}
    )
    assert (row["published"], row["zip_download"]) == (True, True)
