"""How probable the answers to a task are: the page says what a recount of all answers says, and to whom answers are shown."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.storage.connections.connection import Connection

HTML = {"Accept": "text/html"}


class Crowd:
    """A project in which some volunteers answer all tasks in turn."""

    def __init__(self, served: Any) -> None:
        self.served = served

    async def build(self, tasks: int, n_answers: int, people: int = 3) -> Crowd:
        self.owner = await self.served.person("owner")
        self.people = [await self.served.person(f"person{nth}") for nth in range(people)]
        self.project = await self.served.project(self.owner, tasks=tasks, published=True, n_answers=n_answers)
        return self

    async def answer(self, nth: int, said: list[Any]) -> None:
        """Answers of the first volunteers to the task in this place."""
        for client, value in zip(self.people, said, strict=False):
            task = (await client.get(f"/api/project/{self.project['id']}/newtask")).json()
            assert task["id"] == self.project["tasks"][nth]
            body = {
                "project_id": self.project["id"],
                "task_id": task["id"],
                "info": {"answer": value, "at": client.key},
            }
            assert (await client.post("/api/taskrun", json=body)).status == 200

    def path(self, nth: int) -> str:
        return f"/project/birds/tasks/{self.project['tasks'][nth]}"

    async def page(self, nth: int, client: Any = None) -> dict[str, Any]:
        page = await (client or self.owner).page(self.path(nth))
        assert page.status == 200, page.text
        return page.json()


def recounted(said: list[list[str]], votes: dict[str, int]) -> tuple[float, float, int, dict[str, float]]:
    """Agreement, accuracy, number of values and posterior, from all answers to the finished tasks and the votes for one."""
    tops = [Counter(one).most_common() for one in said]
    agreement = sum(
        sum(n * (n - 1) for _, n in top) / (len(one) * (len(one) - 1)) for top, one in zip(tops, said, strict=True)
    ) / len(tops)
    winners = {top[0][0] for top in tops if len(top) == 1 or top[0][1] > top[1][1]}
    kinds = max(2, len(winners), len(votes))
    accuracy = (1 + math.sqrt((kinds - 1) * (kinds * agreement - 1))) / kinds
    assert accuracy**2 + (1 - accuracy) ** 2 / (kinds - 1) == pytest.approx(agreement), (
        "so often two of them say the same"
    )
    likelihood = dict.fromkeys([*votes, *(f"unseen {nth}" for nth in range(kinds - len(votes)))], 1.0)
    for value in likelihood:
        for other, n in votes.items():
            likelihood[value] *= (accuracy if value == other else (1 - accuracy) / (kinds - 1)) ** n
    total = sum(likelihood.values())
    return agreement, accuracy, kinds, {value: likelihood[value] / total for value in votes}


@shows("page-tasks-posterior")
@pytest_twisted.ensureDeferred
async def test_the_page_shows_what_a_recount_says(served):
    draw = random.Random(52)
    crowd = await Crowd(served).build(24, 3)
    said = [[draw.choice(["fox", "owl", "cat"]), *[draw.choice(["fox", "fox", "owl"])] * 2] for _ in range(22)]
    for nth, words in enumerate(said):
        await crowd.answer(nth, words)
    await crowd.answer(22, ["elk", "owl"])
    for folded in (False, True):
        for nth, words in [*list(enumerate(said))[:4], (22, ["elk", "owl"])]:
            page = await crowd.page(nth)
            agreement, accuracy, kinds, expected = recounted(said, Counter(words))
            found = page["posterior"]
            assert found["agreement"] == pytest.approx(agreement, abs=1e-6), (folded, nth)
            assert found["accuracy"] == pytest.approx(accuracy, abs=1e-6), (folded, nth)
            shown = {
                vote["value"]: one for vote, one in zip(page["agreement"]["votes"], found["probabilities"], strict=True)
            }
            assert found["kinds"] == kinds and shown == pytest.approx(expected, abs=1e-6), (folded, nth)
        await served.services.statistics.fold()
    text = (await crowd.owner.get(crowd.path(22), headers=HTML)).text
    assert (
        f"is right {round(100 * accuracy)}\u00a0% of the time: the average agreement of this project is {round(100 * agreement)}\u00a0%"
        in text
    )
    assert text.count(f'<td class="num end">{int(100 * expected["elk"])}\u00a0%</td>') == 2
    assert f"Possible answers: {kinds}." in text and "Probability" in text


@shows("page-tasks-posterior")
@pytest_twisted.ensureDeferred
async def test_a_young_project_is_given_a_stated_accuracy(served):
    crowd = await Crowd(served).build(1, 3)
    assert (await crowd.page(0))["posterior"] is None, "nobody has answered"
    await crowd.answer(0, ["fox", "fox", "owl"])
    found = (await crowd.page(0))["posterior"]
    assert found == {"accuracy": 0.8, "agreement": None, "kinds": 2, "probabilities": pytest.approx([0.8, 0.2])}
    text = (await crowd.owner.get(crowd.path(0), headers=HTML)).text
    assert "right 80\u00a0% of the time: too few finished tasks" in text
    assert '<td class="num end">80\u00a0%</td>' in text and '<td class="num end">20\u00a0%</td>' in text


@shows("page-tasks-posterior")
@pytest_twisted.ensureDeferred
async def test_only_answers_that_count_have_a_say(served):
    crowd = await Crowd(served).build(1, 3)
    await crowd.answer(0, ["fox", "owl", "fox"])
    await served.database.execute("UPDATE task_run SET counted = false WHERE info->>'answer' = 'owl'")
    page = await crowd.page(0)
    assert len(page["task_runs"]) == 3 and page["posterior"]["probabilities"] == pytest.approx([16 / 17])


@shows("page-tasks-posterior")
@pytest_twisted.ensureDeferred
async def test_who_may_not_see_answers_gets_no_probability(served, monkeypatch):
    crowd = await Crowd(served).build(1, 3)
    await crowd.answer(0, ["fox", "owl"])
    stranger = served.client()
    assert (await crowd.page(0, stranger))["posterior"] is not None
    change = {"info": {"task_presenter": "x", "answers_when_complete": True}}
    assert (await crowd.owner.put(f"/api/project/{crowd.project['id']}", json=change)).status == 200
    said: list[str] = []
    run = Connection.run
    monkeypatch.setattr(
        Connection, "run", lambda self, sql, *a, **b: (said.append(str(sql)), run(self, sql, *a, **b))[1]
    )
    page = await crowd.page(0, stranger)
    assert page["agreement"] is None and page["posterior"] is None and page["task_runs"] == []
    assert not [sql for sql in said if "outcomes_of" in sql], "what is not shown is not read"
    assert "Probability" not in (await stranger.get(crowd.path(0), headers=HTML)).text
    assert (await crowd.page(0))["posterior"] is not None
    await crowd.owner.put(f"/api/project/{crowd.project['id']}", json={"zip_download": False})
    assert (await stranger.page(crowd.path(0))).status == 302
    assert (await crowd.people[0].page(crowd.path(0))).status == 403


@shows("page-tasks-posterior")
@pytest_twisted.ensureDeferred
async def test_free_text_has_agreement_and_no_probability(served):
    crowd = await Crowd(served).build(2, 2, people=2)
    await crowd.answer(0, ["Dear Sir", "Dear Sir"])
    assert (await crowd.page(0))["posterior"] is not None
    await served.database.execute(
        "INSERT INTO outcome_count (project_id, kind, hash, tasks, answers, several, agreement, half, most, unanimous)"
        " SELECT id, 'other', 0, 1, 2, 1, 1000000000, 1, 1, 1 FROM project"
    )
    page = await crowd.page(0)
    assert page["posterior"] is None and page["agreement"]["share"] == 1
    text = (await crowd.owner.get(crowd.path(0), headers=HTML)).text
    assert "Probability" not in text and "Votes" in text


@shows("page-tasks-posterior")
@pytest_twisted.ensureDeferred
async def test_nothing_is_said_while_results_are_compared_again(served):
    crowd = await Crowd(served).build(1, 2, people=2)
    await crowd.answer(0, ["fox", "fox"])
    await served.database.execute(
        "INSERT INTO agreement_due (project_id, xact) SELECT id, 9000000000000000000 FROM project"
    )
    page = await crowd.page(0)
    assert page["posterior"] is None and page["agreement"] is not None
