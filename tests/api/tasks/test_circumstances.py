"""How an answer was given: owners read what the volunteer's page told, nobody else does."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.kernel.errors import InvalidValueError
from crowdd.kinds.circumstances import Circumstances

TOLD = {
    "language": "pt-BR",
    "media": {"photo": "https://example.org/1.jpg"},
    "seconds_visible": 12.3,
    "seconds_active": 4.0,
    "inputs": ["keyboard", "touch"],
    "suggestions": {"species": {"shown": True, "outcome": "changed", "seconds": 3.5}, "count": {"shown": False}},
}


async def answered(served: Any, **more: Any) -> tuple[Any, Any, dict[str, Any]]:
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=1, published=True)
    task = (await volunteer.get(f"/api/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": "yes", **more}
    stored = await volunteer.post("/api/taskrun", json=body)
    assert stored.status == 200, stored.text
    return owner, volunteer, stored.json()


@shows("taskrun-circumstances")
@pytest_twisted.ensureDeferred
async def test_owners_read_how_an_answer_was_given_and_nobody_else(served: Any) -> None:
    owner, volunteer, run = await answered(served, circumstances=TOLD)
    assert "circumstances" not in run
    at = f"/api/taskrun/{run['id']}"
    assert (await owner.get(at)).json()["circumstances"] == TOLD
    assert [each["circumstances"] for each in (await owner.get("/api/taskrun")).json()] == [TOLD]
    for who in (volunteer, served.client(), await served.person("other")):
        assert "circumstances" not in (await who.get(at)).json()
        assert "circumstances" not in (await who.get("/api/taskrun?all=1")).json()[0]
    assert (await volunteer.put(at, json={"info": "no"})).status == 200
    assert (await owner.get(at)).json()["circumstances"] == TOLD, "of the first time"
    changed = await volunteer.put(at, json={"circumstances": {"language": "de"}})
    assert changed.status >= 400 and (await owner.get(at)).json()["circumstances"] == TOLD


@shows("taskrun-circumstances")
@pytest_twisted.ensureDeferred
async def test_without_them_there_is_null(served: Any) -> None:
    owner, _volunteer, run = await answered(served)
    assert (await owner.get(f"/api/taskrun/{run['id']}")).json()["circumstances"] is None


@shows("taskrun-circumstances")
@pytest_twisted.ensureDeferred
async def test_a_setting_keeps_none_of_it(serve: Any) -> None:
    served = await serve(CROWDD_VOLUNTEERS_KEEP_CIRCUMSTANCES="off")
    owner, _volunteer, run = await answered(served, circumstances=TOLD)
    assert (await owner.get(f"/api/taskrun/{run['id']}")).json()["circumstances"] is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "must be an object"),
        ({"browser": "x"}, "has the unknown key 'browser'"),
        ({"language": "x" * 40}, "has no language tag in `language`"),
        ({"media": {"a": 1}}, "has a value in `media` that is not an address"),
        ({"media": {str(n): "" for n in range(21)}}, "has no object of at most 20 addresses"),
        ({"media": {"a": "x" * 2001}}, "has a value in `media` that is not an address"),
        ({"seconds_visible": -1}, "has no number from 0 to 86400 in `seconds_visible`"),
        ({"seconds_active": True}, "has no number from 0 to 86400 in `seconds_active`"),
        ({"suggestions": {"No name": {"shown": True}}}, "has no object of at most 200 questions in `suggestions`"),
        ({"suggestions": {"a": {"outcome": "accepted"}}}, "has something else than `shown`, `outcome` and `seconds`"),
        (
            {"suggestions": {"a": {"shown": True, "outcome": "x"}}},
            "has something else than accepted, changed, rejected",
        ),
        ({"suggestions": {"a": {"shown": True, "seconds": -1}}}, "has no number from 0 to 86400 in `suggestions.a.sec"),
        ({"inputs": ["mouse"]}, "has something else than keyboard, pointer, touch in `inputs`"),
    ],
)
def test_what_is_none_of_this_is_refused(value: Any, words: str) -> None:
    with pytest.raises(InvalidValueError, match=words.replace("`", ".")):
        Circumstances().parse(value)


def test_seconds_are_rounded_and_inputs_are_sorted() -> None:
    assert Circumstances().parse({"seconds_visible": 1.26, "inputs": ["touch", "keyboard", "touch"]}) == {
        "seconds_visible": 1.3,
        "inputs": ["keyboard", "touch"],
    }
    assert Circumstances().parse({}) == {}
