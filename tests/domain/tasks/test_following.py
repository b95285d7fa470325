"""The tasks of the next step: each once, corrections travel, and what was answered stays."""

from __future__ import annotations

import json

import attrs
import pytest
import pytest_twisted
from support.ledger import Ledger, Meanwhile
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core.quotas import Quota
from crowdd.features.chains import following as following_module
from crowdd.features.chains.feature import ChainsFeature
from crowdd.kernel.errors import ConflictError, InvalidValueError, NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kinds.chains import read_rule
from crowdd.sched.statistics import Check, Checking

FIELDS = [{"name": "lines", "at": "/lines", "type": "boxes"}, {"name": "kind", "at": "/kind", "type": "label"}]
RULE = {"each": {"field": "lines"}, "columns": {"n": "n"}, "n_answers": 1}
CHECKS = (Check("next steps", "check_chains", "repair_chains"),)
TOP, MIDDLE, LOW = ({"x": 10, "y": y, "width": 100, "height": 20} for y in (10, 200, 400))


class Chain:
    """A project in which boxes are drawn, and one behind it; one owner has both."""

    def __init__(self, house, dsn, tasks=2):
        self.house, self.ledger = house, Ledger(dsn)
        self.first, self.next = self.ledger.project(tasks=tasks, n=1), self.ledger.project()
        self.owner = Requester(user_id=self.own(self.first, self.next))
        self.ledger.run(
            "UPDATE project SET info = info || jsonb_build_object('answers', %(f)s::jsonb) WHERE id = %(p)s",
            f=json.dumps(FIELDS),
            p=self.first,
        )
        self.pages = self.ledger.tasks(self.first)
        self.chains, self.following = house[ChainsFeature].chains, house[ChainsFeature].following

    def own(self, *projects):
        """Gives projects to the owner of the first one; their account."""
        owner = self.ledger.value("SELECT owner_id FROM project WHERE id = %(p)s", p=projects[0])
        self.ledger.run(
            "UPDATE project SET owner_id = %(o)s, owners_ids = ARRAY[%(o)s::bigint] WHERE id = ANY (%(p)s)",
            o=owner,
            p=list(projects),
        )
        return owner

    async def link(self, rule=RULE, first=None, behind=None):
        return await self.chains.put(self.owner, first or self.first, behind or self.next, read_rule(rule))

    def draw(self, page, *boxes, who="c:1", kind="letter"):
        """Answers a page, and compares what is due."""
        self.ledger.hold(self.first, who, page)
        self.ledger.answer(self.first, who, page, {"lines": list(boxes), "kind": kind})
        self.ledger.compare()

    def redraw(self, page, *boxes):
        """Somebody else answers in place of who did."""
        self.ledger.withdraw(self.first, [page], "c:1")
        self.draw(page, *boxes, who="c:2")

    def made(self):
        """What there is in the next step: source, part, top, and whether it is marked."""
        return [
            (row["source_task_id"], row["part"], row["y"], row["changed"])
            for row in self.ledger.rows(
                "SELECT s.source_task_id, s.part, (t.info->>'y')::int AS y, s.changed FROM task_source s"
                " LEFT JOIN task t ON t.id = s.task_id WHERE s.project_id = %(p)s ORDER BY 1, 2",
                p=self.next,
            )
        ]

    async def differences(self, repair=False):
        return [one.what async for one in Checking(self.house.base.db, CHECKS).run(repair=repair)]


@pytest.fixture
def chain(house, dsn):
    made = Chain(house, dsn)
    yield made
    assert made.ledger.broken() == []
    made.ledger.close()


@pytest_twisted.ensureDeferred
async def test_each_line_of_a_complete_page_becomes_one_task(chain):
    one, two = chain.pages
    await chain.link()
    chain.draw(one, TOP, LOW)
    assert await chain.following.run() == 2 and await chain.following.run() == 0
    assert chain.made() == [(one, "1", 10, False), (one, "2", 400, False)]
    chain.draw(two, MIDDLE)
    assert await chain.following.run() == 1
    row = chain.ledger.row("SELECT * FROM task WHERE project_id = %(p)s ORDER BY id DESC LIMIT 1", p=chain.next)
    assert row["info"] == MIDDLE
    assert chain.ledger.figures(chain.next)["n_tasks"] == 3
    await chain.link()
    assert await chain.following.run() == 0 and len(chain.made()) == 3, "the same rule makes nothing twice"
    assert await chain.differences() == []


@pytest_twisted.ensureDeferred
async def test_corrections_travel_to_open_tasks_and_mark_answered_ones(chain):
    one, two = chain.pages
    await chain.link()
    chain.draw(one, TOP, MIDDLE)
    chain.draw(two, LOW)
    await chain.following.run()
    answered = chain.ledger.tasks(chain.next)[1]
    chain.ledger.hold(chain.next, "c:9", answered)
    chain.ledger.answer(chain.next, "c:9", answered, {"text": "Dear Sir"})
    chain.redraw(one, {**TOP, "y": 14}, {**MIDDLE, "y": 204}, LOW)
    assert await chain.following.run() == 3
    moved = [(one, "1", 14, False), (one, "2", 200, True), (one, "3", 400, False)]
    assert chain.made() == [*moved, (two, "1", 400, False)]
    (step,) = await chain.chains.next_steps(chain.owner, chain.first)
    assert (step["made"], step["changed"], step["waiting"]) == (4, 1, 0)
    (changed,) = await chain.chains.changed(chain.owner, chain.first, chain.next)
    assert changed == {"task_id": answered, "source_task_id": one, "part": "2"}
    chain.ledger.withdraw(chain.first, [one], "c:2")
    chain.draw(one, {**MIDDLE, "y": 204}, who="c:3")
    await chain.following.run()
    assert chain.made() == [(one, "2", 200, True), (two, "1", 400, False)], "lines that are gone have no open tasks"
    chain.ledger.withdraw(chain.next, [answered], "c:9")
    assert await chain.following.run() == 1
    assert chain.made() == [(one, "2", 204, False), (two, "1", 400, False)], "nobody has answered it any more"
    assert await chain.differences() == []


@pytest_twisted.ensureDeferred
async def test_who_is_at_a_task_is_not_disturbed(chain):
    one = chain.pages[0]
    await chain.link()
    chain.draw(one, TOP)
    await chain.following.run()
    (task,) = chain.ledger.tasks(chain.next)
    chain.ledger.hold(chain.next, "c:9", task)
    chain.redraw(one, {**TOP, "y": 14})
    await chain.following.run()
    assert chain.made() == [(one, "1", 10, True)]
    chain.ledger.release(chain.next, "c:9", task)
    await chain.following.run()
    assert chain.made() == [(one, "1", 14, False)]


@pytest_twisted.ensureDeferred
async def test_a_rule_a_deleted_page_and_a_deleted_task_are_followed(chain):
    one, two = chain.pages
    await chain.link()
    chain.draw(one, TOP, LOW, kind="letter")
    chain.draw(two, MIDDLE, kind="map")
    await chain.following.run()
    gone = chain.ledger.tasks(chain.next)[0]
    chain.ledger.delete_tasks(chain.next, [gone])
    assert await chain.following.run() == 0
    assert chain.made() == [(one, "1", None, False), (one, "2", 400, False), (two, "1", 200, False)]
    assert await chain.differences() == [], "an owner may delete what was made"
    await chain.link(RULE | {"when": [{"field": "kind", "is": ["letter"]}]})
    await chain.following.run()
    assert chain.made() == [(one, "2", 400, False), (one, "3", 10, False)], "saved again, it is made again"
    chain.ledger.delete_tasks(chain.first, [one])
    await chain.following.run()
    assert chain.made() == [] and chain.ledger.tasks(chain.next) == []
    await chain.chains.remove(chain.owner, chain.first, chain.next)
    with pytest.raises(NotFoundError):
        await chain.chains.remove(chain.owner, chain.first, chain.next)
    assert await chain.following.run() == 0


@pytest_twisted.ensureDeferred
async def test_circles_and_projects_of_others_are_refused(chain):
    third, foreign = chain.ledger.project(), chain.ledger.project()
    chain.own(chain.first, third)
    await chain.link()
    await chain.link(first=chain.next, behind=third)
    for first, behind in ((third, chain.first), (chain.next, chain.first), (chain.first, chain.first)):
        with pytest.raises(InvalidValueError, match="before itself"):
            await chain.link(first=first, behind=behind)
    with pytest.raises(ConflictError):
        await chain.link(first=chain.first, behind=third)
    with pytest.raises(NotFoundError):
        await chain.link(behind=foreign)
    with pytest.raises(NotFoundError):
        await chain.link(behind=10**9)
    administrator = Requester(user_id=1, admin=True)
    with pytest.raises(NotFoundError):
        await chain.chains.put(administrator, chain.first, foreign, read_rule(RULE))
    assert [step["id"] for step in await chain.chains.next_steps(chain.owner, chain.first)] == [chain.next]


@pytest_twisted.ensureDeferred
async def test_two_links_at_once_make_no_circle(chain, dsn):
    other, sql = Ledger(dsn, autocommit=False), "SELECT link_projects(%(a)s, %(b)s, '{}', NULL, 9, clock())"
    try:
        assert other.value(sql, a=chain.first, b=chain.next) == "ok"
        second = Meanwhile(chain.ledger.value, sql, a=chain.next, b=chain.first)
        other.wait_until_blocked(chain.ledger)
        other.commit()
        assert second.result() == "circle"
    finally:
        other.close()


@pytest_twisted.ensureDeferred
async def test_two_jobs_at_once_make_each_task_once(chain, monkeypatch):
    monkeypatch.setattr(following_module, "CHUNK", 1)
    await chain.link()
    for page in chain.pages:
        chain.draw(page, TOP, LOW)
    done = await gatherResults([ensureDeferred(chain.following.run()) for _job in range(3)])
    assert sum(done) == 4 == len(chain.made())
    assert await chain.differences() == []


@pytest_twisted.ensureDeferred
async def test_a_failure_between_two_steps_loses_and_doubles_nothing(chain, monkeypatch):
    monkeypatch.setattr(following_module, "CHUNK", 1)
    await chain.link()
    for page in chain.pages:
        chain.draw(page, TOP, LOW)
    move, calls = following_module._move, []

    async def killed(*arguments):
        await move(*arguments)
        calls.append(arguments)
        if len(calls) == 2:
            raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(following_module, "_move", killed)
        with pytest.raises(RuntimeError, match="killed"):
            await chain.following.run()
    assert len(chain.made()) == 2, "the second page was rolled back"
    assert await chain.differences() == []
    assert await chain.following.run() == 2 and len(chain.made()) == 4


@pytest_twisted.ensureDeferred
async def test_a_full_account_is_told_and_tried_again(chain):
    await chain.link()
    chain.draw(chain.pages[0], TOP, LOW)
    base = chain.house.base
    full = attrs.evolve(chain.following, quota=Quota(attrs.evolve(base.settings.quota, max_tasks=3), base.site))
    assert await full.run() == 0 and chain.made() == []
    (step,) = await chain.chains.next_steps(chain.owner, chain.first)
    assert step["failure"].startswith("The projects of an account may have 3 tasks")
    assert await chain.following.run() == 0, "not yet"
    chain.ledger.pass_time(61)
    assert await chain.following.run() == 2
    (step,) = await chain.chains.next_steps(chain.owner, chain.first)
    assert (step["failure"], step["made"]) == (None, 2)


@pytest_twisted.ensureDeferred
async def test_drafts_and_projects_that_were_given_away_make_nothing(chain):
    await chain.link()
    chain.draw(chain.pages[0], TOP)
    ledger = chain.ledger
    ledger.run("UPDATE project_ledger SET trial = true WHERE project_id = %(p)s", p=chain.first)
    assert await chain.following.run() == 0
    ledger.run("UPDATE project_ledger SET trial = false WHERE project_id = %(p)s", p=chain.first)
    chain.own(ledger.project(), chain.first)
    assert await chain.following.run() == 0
    chain.own(chain.next, chain.first)
    assert await chain.following.run() == 1


@pytest_twisted.ensureDeferred
async def test_a_check_finds_what_is_wrong_and_has_it_made_again(chain):
    await chain.link()
    chain.draw(chain.pages[0], TOP, LOW)
    await chain.following.run()
    ledger = chain.ledger
    ledger.run("DELETE FROM task_source WHERE part = '2'")
    assert await chain.differences() == ["tasks made of a task"]
    ledger.run("UPDATE chain_source SET parts = '{}'")
    assert await chain.differences() == ["tasks made of a task that was not to become them"]
    ledger.run("DELETE FROM chain_source")
    assert await chain.differences() == ["complete tasks that the next step was not made of"]
    ledger.run("UPDATE task_source SET task_id = 1")
    assert len(await chain.differences(repair=True)) == 2
    assert await chain.differences() == []
    await chain.following.run()
    assert [row[1] for row in chain.made()] == ["1", "2"] and await chain.differences() == []


@pytest_twisted.ensureDeferred
async def test_a_deleted_project_leaves_nothing(chain):
    await chain.link()
    chain.draw(chain.pages[0], TOP)
    await chain.following.run()
    chain.ledger.delete_project(chain.next)
    assert await chain.following.run() == 0
    chain.ledger.sweep(chain.next)
    for table in ("chain_link", "chain_source", "task_source"):
        assert chain.ledger.value(f"SELECT count(*) FROM {table}") == 0, table
