"""How far an import is: the stream of its page, who may listen, and what it costs."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.listening import listen
from support.servers.queue_runner import worked
from support.until import until

from crowdd.features.imports.progress import state_of
from crowdd.features.imports.rows import ImportProgress

AT = "/project/birds/tasks/import"
ROWS = 3500  # four steps
HTML = {"Accept": "text/html"}


async def brought(client: Any, rows: int = ROWS, **fields: str) -> str:
    """The address of an import that is read, and waits for its owner."""
    table = "url\n" + "".join(f"x{n}\n" for n in range(rows)) + "\n"
    files = {"file": ("tasks.csv", "text/csv", io.BytesIO(table.encode()))}
    answer = await client.post(f"{AT}?response_format=json", data={"map": "y", **fields}, files=files)
    assert answer.status == 200, answer.text
    return str(answer.json()["next"])


@shows("page-import-live", "stream-who")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_the_stream_tells_every_state_until_the_end(served):
    owner = await served.person("owner")
    await served.project(owner)
    page = await brought(owner)
    stream = await listen(owner, f"{page}/live")
    assert (stream.status, stream.headers.getRawHeaders("content-type")) == (200, ["text/event-stream"])
    first = await stream.next()
    assert first.name == "state" and first.data == {
        "state": "pending", "reading": False, "rows": ROWS, "added": 0, "updated": 0, "present": 0, "refused": 0,
        "left": ROWS, "done": 0, "total": None, "rows_per_second": None, "seconds_left": None,
    }  # fmt: skip
    await owner.post(page, json={})
    assert (await worked(served))[0]["state"] == "done"
    last = await stream.until(lambda event: event.data["state"] == "done")
    assert [last.data[name] for name in ("added", "left", "done", "total")] == [ROWS, 0, ROWS, ROWS]
    once = await owner.page(f"{page}/live")
    assert once.status == 200 and once.json() == last.data
    stream.leave()
    await until(lambda: len(served.server._site.streams) == 0)


@shows("page-import-live")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_a_failure_and_a_cancellation_are_told_without_waiting(served):
    owner = await served.person("owner")
    await served.project(owner)
    page = await brought(owner)
    begun = (await owner.post(page, json={})).json()
    stream = await listen(owner, f"{page}/live")
    assert (await stream.next()).data["state"] == "waiting"
    assert (await owner.post(f"/api/queue/{begun['queue_item']}/cancel", json={})).status == 200
    assert (await stream.next()).data["state"] == "cancelled"
    stream.leave()


@shows("page-import-live")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_only_owners_listen_and_only_to_imports_of_the_project(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    await served.project(owner, tasks=1, published=True)
    await served.project(owner, short_name="bats")
    page = await brought(owner, 3)
    for stranger, status in ((ada, 403), (served.client(), 302)):
        assert (await stranger.get(f"{page}/live", headers=HTML)).status == status
    number = page.rpartition("/")[2]
    for other in (f"/project/bats/tasks/import/{number}", f"{AT}/{int(number) + 1}", f"{AT}/{2**63}"):
        assert (await owner.page(f"{other}/live")).status == 404, other
    await owner.post(f"{page}/forget", json={})
    assert (await owner.page(f"{page}/live")).status == 404


@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_the_page_says_the_same_without_a_script(served):
    owner = await served.person("owner")
    await served.project(owner)
    page = await brought(owner)
    await owner.post(page, json={})
    shown = (await owner.get(page, headers=HTML)).text
    assert f'data-import="{page}/live"' in shown and f'<a class="btn" href="{page}" data-refresh>' in shown
    assert "3,500 rows left" in shown and 'data-count="rows_per_second"' in shown
    await worked(served)
    shown = (await owner.get(page, headers=HTML)).text
    assert "data-import" not in shown and "/live" not in shown


def row(**more: Any) -> ImportProgress:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    plain: dict[str, Any] = {
        "import_state": "running", "reading": False, "rows": 1000, "added": 200, "updated": 10, "present": 30,
        "refused": 10, "state": "running", "done": 250, "total": 1000, "began": began, "done_before": 50,
        "progressed": began + timedelta(seconds=4),
    }  # fmt: skip
    return ImportProgress(**plain | more)


@pytest.mark.parametrize(
    ("more", "left", "rate", "seconds"),
    [
        ({}, 750, 50, 15),
        ({"reading": True, "done": 400}, 600, 88, 7),
        ({"reading": True, "rows": 0, "total": None}, None, 50, None),
        ({"state": "waiting", "import_state": "waiting"}, 750, None, None),
        ({"progressed": None}, 750, None, None),
        ({"done": 51, "progressed": datetime(2026, 1, 1, 0, 1, tzinfo=UTC)}, 750, 1, 56940),
        ({"added": 5000}, 0, 50, 15),  # more than were counted
    ],
)
def test_what_is_left_is_computed_from_the_rows(more, left, rate, seconds):
    state = state_of(row(**more))
    assert (state["left"], state["rows_per_second"], state["seconds_left"]) == (left, rate, seconds)
