"""The first task of one template of each kind of question: few requests, and nothing moves (``make paint`` in small)."""

from __future__ import annotations

from typing import Any

import pytest

from bench import first_task

pytestmark = [pytest.mark.browser, pytest.mark.proof]


@pytest.fixture(scope="module")
def projects(live_server: Any) -> list[first_task.Project]:
    return first_task.load(live_server, first_task.folders(first_task.FEW), "painter")


def test_a_first_task_needs_few_requests_and_nothing_moves(
    browser: Any, live_server: Any, projects: list[first_task.Project]
) -> None:
    for project in projects:
        row = first_task.visit(browser, live_server.url, project, first_task.LINES[0], 1)
        assert row.requests <= project.max_requests, (project.name, row)
        assert row.shift <= first_task.MAX_SHIFT and row.painted < row.ready, (project.name, row)
