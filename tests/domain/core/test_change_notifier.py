"""Change notifications: who is called, and when."""

import pytest
import pytest_twisted
from support.browsers import lock
from twisted.internet import reactor
from twisted.internet.task import Clock, deferLater

from crowdd.core.change_notifier import ANY, MAIL, QUEUE, ChangeNotifier


@pytest.fixture
def clock():
    return Clock()


def test_each_project_is_heard_once_however_often_it_was_rung(clock):
    change_notifier, heard = ChangeNotifier(clock), []
    change_notifier.listen(heard.append)
    for project_id in (7, 8, 7, 7):
        change_notifier.notify(project_id)
    assert heard == []  # never within the caller's own work
    clock.advance(0)
    assert heard == [7, 8]
    change_notifier.notify(7)
    clock.advance(0)
    assert heard == [7, 8, 7]


def test_who_stopped_listening_hears_no_more(clock):
    change_notifier, heard = ChangeNotifier(clock), []
    stop, _ = change_notifier.listen(heard.append), change_notifier.listen(heard.append)
    change_notifier.notify(1)
    stop()
    stop()
    clock.advance(0)
    assert heard == [1]


def test_nobody_listens_and_nothing_is_planned(clock):
    ChangeNotifier(clock).notify(1)
    assert clock.getDelayedCalls() == []


def test_what_was_rung_elsewhere_is_not_for_those_who_carry_it_there(clock):
    change_notifier, own, all_ = ChangeNotifier(clock), [], []
    change_notifier.listen(own.append, only_own=True)
    change_notifier.listen(all_.append)
    change_notifier.notify(1, from_elsewhere=True)
    change_notifier.notify(2)
    change_notifier.notify(3)
    change_notifier.notify(3, from_elsewhere=True)  # notified by both: carried
    clock.advance(0)
    assert (own, all_) == ([2, 3], [1, 2, 3])


def test_topics_are_for_those_who_ask_for_them(clock):
    change_notifier, projects, letters = ChangeNotifier(clock), [], []
    change_notifier.listen(projects.append)
    change_notifier.listen(letters.append, topics=frozenset({MAIL}))
    for number in (1, MAIL, QUEUE, ANY):
        change_notifier.notify(number)
    clock.advance(0)
    assert (projects, letters) == ([1, ANY], [MAIL, ANY])


def test_a_listener_that_fails_is_no_harm_to_others(clock):
    change_notifier, heard = ChangeNotifier(clock), []
    change_notifier.listen(lambda project_id: 1 / 0)
    change_notifier.listen(heard.append)
    change_notifier.notify(1)
    clock.advance(0)
    assert heard == [1]


@pytest_twisted.ensureDeferred
async def test_everything_that_changes_a_projects_figures_rings_after_its_commit(served):
    """One row per way to change something; a refused one does not ring."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2)
    number, task = project["id"], project["tasks"][0]
    other = await served.project(owner, "other", tasks=1)
    heard: list[int] = []
    served.house.base.shared.change_notifier.listen(heard.append)

    async def rings(work, expected):
        heard.clear()
        answer = await work
        await deferLater(reactor, 0)  # listeners are called in a turn of their own
        assert heard == expected, answer.text

    answer = {"project_id": number, "task_id": task, "info": 1}
    await rings(owner.get(f"/api/{number}/newtask"), [])
    await rings(owner.post("/api/taskrun", json={**answer, "task_id": project["tasks"][1]}), [])  # no lease
    await rings(owner.post("/api/taskrun", json=answer), [number])
    await rings(owner.post("/api/taskrun", json=answer), [])  # a duplicate
    await rings(owner.post("/api/task", json=[{"project_id": number, "info": n} for n in range(3)]), [number])
    await rings(
        owner.post("/api/task", json=[{"project_id": n, "info": 1} for n in (number, other["id"])]),
        [number, other["id"]],
    )
    await rings(owner.put(f"/api/task/{task}", json={"n_answers": 5}), [number])
    await rings(owner.put(f"/api/task/{task}", json={"n_answers": -5}), [])
    await rings(owner.delete(f"/api/task/{task}"), [number])
    await rings(owner.put(f"/api/project/{number}", json={"description": "?"}), [number])
    await rings(owner.post("/project/birds/publish", json={}), [number])
    await rings(owner.post("/project/birds/pause", json={}), [number])
    heard.clear()
    await lock(served, "birds", owner, "sesame")
    await deferLater(reactor, 0)
    assert heard == [number]
    await rings(owner.delete(f"/api/project/{number}"), [number])
