"""/api/queue: one's own long work, and stopping it."""

from __future__ import annotations

import pytest_twisted
from support.checks.shows import shows

from crowdd.kernel.requester import Requester
from crowdd.sched.feature import Scheduling


@shows("queue-cancel", "queue-list", "queue-read")
@pytest_twisted.ensureDeferred
async def test_ones_own_work_is_listed_read_and_cancelled(served):
    ada, eve = await served.person("ada"), await served.person("eve")
    who = Requester(user_id=ada.user_id, via="api")
    ids = [await served.house[Scheduling].queue.add(served.database, "unknown", {"secret": 1}, who) for _ in range(3)]
    listed = (await ada.get("/api/queue")).json()
    assert [item["id"] for item in listed] == ids[::-1]
    assert [item["id"] for item in (await ada.get(f"/api/queue?last_id={ids[1]}&limit=5")).json()] == ids[:1]
    item = (await ada.get(f"/api/queue/{ids[0]}")).json()
    assert item == listed[-1] and item["state"] == "waiting" and "T" in item["created"]
    assert "secret" not in str(item)
    answer = await ada.post(f"/api/queue/{ids[0]}/cancel", json={})
    assert (answer.status, answer.json()["state"]) == (200, "cancelled")
    assert [item["id"] for item in (await ada.get("/api/queue?state=cancelled")).json()] == ids[:1]
    assert (await ada.post(f"/api/queue/{ids[0]}/cancel", json={})).status == 415
    for path in (f"/api/queue/{ids[1]}", "/api/queue/99999", f"/api/queue/{2**70}"):
        assert (await eve.get(path)).status == 404
    assert (await eve.post(f"/api/queue/{ids[1]}/cancel", json={})).status == 404
    assert (await eve.get("/api/queue")).json() == []
    assert (await served.client().get("/api/queue")).status == 401
    assert (await ada.get("/api/queue?state=lost")).status == 415
    assert (await ada.get("/api/queue?arguments=1")).json()["exception_cls"] == "AttributeError"
