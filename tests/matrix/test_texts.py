"""What PostgreSQL shows of rows as JSON is what views show, for every kind and requester: keys, order and values."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import pytest_twisted
from matrix.example_site import REQUESTERS, Stage
from support.checks.proofs import examples
from support.checks.shows import shows

from crowdd.core.records.records import Records
from crowdd.kinds import KINDS

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
FLEETING = {"last_activity"}


class Counted:
    """Counts the views that are made."""

    def __init__(self, monkeypatch: Any) -> None:
        self.views, real = 0, Records.view

        def view(records: Records, kind: Any, row: Any) -> Any:
            self.views += 1
            return real(records, kind, row)

        monkeypatch.setattr(Records, "view", view)


def same(text: Any, view: Any) -> None:
    assert text.status == view.status, (text.text, view.text)
    # As texts again: 1 and 1.0 are equal, and so are objects whose keys have another order.
    shown, expected = (orjson.dumps(without([each.json()], FLEETING)) for each in (text, view))
    assert shown == expected


def needs_python(kind: Any, rows: Any) -> bool:
    """Whether rows hold what only Python can show: a secret, or how long ago something was."""
    names = {field.name for field in kind.fields if field.encrypted} | (FLEETING if kind.name == "project" else set())
    return any(names & row.keys() for row in rows)


def without(rows: Any, names: Any) -> Any:
    return [{key: value for key, value in row.items() if key not in names} for row in rows]


@shows("record-rights")
@every_kind
@pytest_twisted.ensureDeferred
async def test_a_row_is_shown_as_its_view(kind, stage: Stage, monkeypatch):
    counted = Counted(monkeypatch)
    for requester in REQUESTERS:
        for row_id in (*stage.rows[kind.name], *stage.hidden.get(kind.name, ()), 987654321):
            address, before = f"/api/{kind.name}/{row_id}", counted.views
            text = await stage[requester].get(address)
            made = counted.views - before
            view = await stage[requester].get(f"{address}?related=1")
            if text.status == 200 and not needs_python(kind, [view.json()]):
                assert made == 0, f"{requester} got a view"
            same(text, view)
            assert text.header("etag") == view.header("etag")


@examples("task", "user")
@every_kind
@pytest_twisted.ensureDeferred
async def test_a_list_shows_rows_as_their_views(kind, stage: Stage, monkeypatch):
    counted = Counted(monkeypatch)
    filters = ["", "&desc=1", "&orderby=id&limit=1", "&last_id=1", "&offset=1"]
    if "project_id" in kind.by_name:
        filters += [f"&project_id={stage.projects['open']['id']}", "&project_id=1,2,3&last_id=1"]
    for requester in REQUESTERS:
        for query in [*filters, *(f"&all=1{each}" for each in filters)]:
            before = counted.views
            text = await stage[requester].get(f"/api/{kind.name}?_=1{query}")
            made = counted.views - before
            view = await stage[requester].get(f"/api/{kind.name}?related=1{query}")
            assert text.status == view.status == 200, (text.text, view.text)
            if not needs_python(kind, view.json()):
                assert made == 0, f"{requester} got views for {query}"
            left_out = {*kind.related, *(FLEETING if kind.name == "project" else ())}
            shown, expected = (orjson.dumps(without(each.json(), left_out)) for each in (text, view))
            assert shown == expected, (requester, query)
