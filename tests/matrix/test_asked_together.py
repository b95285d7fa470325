"""Who asks at the same time as others gets what they get alone, whoever the others are."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import pytest_twisted
from matrix.example_site import REQUESTERS, Stage
from matrix.test_exposure import PAGES, values  # noqa: F401 - a fixture
from support.checks.proofs import examples
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.kinds import KINDS

FLEETING = ("last_activity", "registered_ago", "csrf", "api_key_made")
ROUNDS = 2
LISTED = ("/project/open/stats", "/project/open/tasks/", "/leaderboard/", "/stats/", "/project/category/thinking/")


def stable(value: Any) -> Any:
    """The value without what is another one from second to second, or for each response."""
    if isinstance(value, dict):
        return {name: stable(inner) for name, inner in value.items() if name not in FLEETING}
    return [stable(inner) for inner in value] if isinstance(value, list) else value


async def asked(stage: Stage, requester: str, path: str) -> tuple[int, bytes]:
    """What the requester gets as JSON."""
    answer = await stage[requester].get(path, headers={"Accept": "application/json"})
    return answer.status, orjson.dumps(stable(answer.json())) if answer.body[:1] in (b"{", b"[") else answer.body


async def check(stage: Stage, paths: list[str]) -> None:
    for path in paths:
        alone = {requester: await asked(stage, requester, path) for requester in REQUESTERS}
        for _ in range(ROUNDS):
            together = await gatherResults([ensureDeferred(asked(stage, each, path)) for each in REQUESTERS * 2])
            for requester, answer in zip(REQUESTERS * 2, together, strict=True):
                assert answer == alone[requester], f"{path} of the {requester}"


@pytest.mark.inside
@examples("task", "result", "user")  # of a project with rules of its own, written by nobody, and of a person
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest_twisted.ensureDeferred
async def test_lists_and_rows(kind, stage, values):  # noqa: F811
    rows = (*stage.rows[kind.name], *stage.hidden.get(kind.name, ()))
    paths = [f"/api/{kind.name}/{row_id}" for row_id in rows] + [f"/api/{kind.name}", f"/api/{kind.name}?all=1"]
    if "project_id" in kind.by_name:
        paths += [f"/api/{kind.name}?project_id={project['id']}" for project in stage.projects.values()]
    await check(stage, paths)


@pytest.mark.proof
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_pages_as_json(stage, values):  # noqa: F811
    await check(stage, [path for path in (*PAGES, *LISTED) if not path.startswith("/api")])
