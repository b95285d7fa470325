"""Whatever people do, in whatever order: after every step the invariants hold, and nobody is told wrongly that all is done.

CROWDD_EXAMPLES=1000 pytest tests/ledger/test_stateful.py goes further, each time elsewhere.
"""

from __future__ import annotations

import os

import attrs
import pytest
import pytest_twisted
from hypothesis import HealthCheck, settings, strategies
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from psycopg2 import OperationalError
from support.checks.proofs import examples
from support.copies import Copy, source
from support.first_encryption import encrypted_at_first
from support.ledger import DRAFT, Ledger
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred
from twisted.internet.threads import blockingCallFromThread, deferToThread

from crowdd.database import schema
from crowdd.features.exports.feature import ExportsFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.tasks.barring import BarBody
from crowdd.features.tasks.change_bodies import PriorityBody, RedundancyBody, TaskRetirementBody, WithdrawalBody
from crowdd.features.tasks.contributions import candidate_scan
from crowdd.features.tasks.feature import TasksFeature
from crowdd.kernel.errors import ForbiddenError
from crowdd.kernel.requester import SYSTEM, Requester
from crowdd.kinds.project import PROJECT
from crowdd.kinds.task import TASK

EXAMPLES = int(os.environ.get("CROWDD_EXAMPLES", "7"))
FEW = 2  # the first one is always short
STEPS = 30
HOME, SCHOOL = "10.0.0.1", "10.0.0.2"
LINK = (DRAFT,)  # all of them have the link of the draft
WHO = [
    *(Requester(user_id=n, network=HOME, unlocked=LINK) for n in (101, 102, 103)),
    Requester(volunteer="tab", network=HOME, unlocked=LINK),
    Requester(volunteer="pupil", network=SCHOOL, unlocked=LINK),
    Requester(volunteer="tab", network=SCHOOL, unlocked=LINK),  # the same browser, elsewhere
    Requester(network=HOME, unlocked=LINK),
]
ACCOUNTS, BROWSERS = WHO[:3], WHO[3:5]
ORDERS = [("", False), ("priority_0", False), ("id", False), ("id", True), ("created", True), ("n_answers", True)]
LEASE = 3600

volunteers = strategies.sampled_from(WHO)
places = strategies.integers(0, 11)  # a task by its place among those that there are
redundancies = strategies.integers(1, 4)
priorities = strategies.sampled_from([-1.0, 0.0, 0.5, 1.0])


def do(work):
    """The result of a coroutine of the domain, for the thread in which hypothesis plays."""
    return blockingCallFromThread(reactor, lambda: ensureDeferred(work))


class People(RuleBasedStateMachine):
    """A project with an owner, six volunteers and two networks; ``house`` and ``ledger`` are set by the test."""

    @initialize(
        n=redundancies, sched=strategies.sampled_from(schema.list_schedulers()), published=strategies.booleans()
    )
    def begin(self, n, sched, published):
        self.ledger.highest = 1000
        self.project = self.ledger.project(tasks=4, n=n, published=published)
        owner = self.ledger.value("SELECT owner_id FROM project WHERE id = %(p)s", p=self.project)
        self.owner = Requester(user_id=owner, user_name="owner")
        self.ledger.run(
            "UPDATE project SET secret_key_encrypted = %(key)s",
            key=encrypted_at_first(self.house.base.secrets, "secret"),
        )
        self.choose(sched)
        self.copies = [Copy(kind) for kind in ("task_run", "task", "result")]

    def tasks_at(self, *places):
        """The tasks at these places, as far as there are any."""
        tasks = self.ledger.tasks(self.project)
        return sorted({tasks[place % len(tasks)] for place in places}) if tasks else []

    def answers(self, who, task):
        body = {"project_id": self.project, "task_id": task, "info": "yes"}
        return do(self.house[TasksFeature].contributions.submit(who, body, None, None))

    @rule(
        who=volunteers,
        limit=strategies.integers(1, 3),
        offset=strategies.integers(0, 2),
        order=strategies.sampled_from(ORDERS),
    )
    def asks(self, who, limit, offset, order):
        work = self.house[TasksFeature].contributions.next_tasks(
            who, self.project, limit, offset, candidate_scan(*order)
        )
        try:
            handout = do(work)
        except ForbiddenError as error:
            assert error.code in ("paused", "barred")
            return
        left = self.open_to(who)
        if handout.reason == "none" and offset == 0:
            assert left == [], "told that nothing is left"
        assert len(handout.tasks) <= limit

    def open_to(self, who):
        """Tasks that somebody could have at once."""
        return self.ledger.rows(
            "SELECT task_id FROM task_ledger l WHERE project_id = %(p)s AND open AND NOT EXISTS ("
            " SELECT FROM task_run r WHERE r.project_id = l.project_id AND r.task_id = l.task_id AND r.actor = ANY (actors_of(%(p)s, %(a)s)))"
            " AND NOT (SELECT share_taken(p, asker_of(p, actors_of(p.project_id, %(a)s), %(n)s), l.task_id)"
            "            FROM project_ledger p WHERE p.project_id = l.project_id)",
            p=self.project,
            a=who.actor,
            n=who.network,
        )

    @rule(who=volunteers, late=strategies.booleans(), place=places)
    def answers_what_he_has(self, who, late, place):
        table = "expired_lease" if late else "lease"
        held = self.ledger.rows(
            f"SELECT task_id FROM {table} WHERE project_id = %(p)s AND actor = %(a)s ORDER BY 1",
            p=self.project,
            a=who.actor,
        )
        if held and not self.barred(who):
            task = held[place % len(held)]["task_id"]
            if self.has_answered(who, task):  # as somebody they were found out to be, too
                with pytest.raises(ForbiddenError, match="already answered"):
                    self.answers(who, task)
            else:
                assert self.answers(who, task)["task_id"] == task

    @rule(who=volunteers, place=places)
    def answers_what_he_has_not(self, who, place):
        for task in self.tasks_at(place):
            if not any(self.theirs(table, who, task) for table in ("lease", "expired_lease")):
                with pytest.raises(ForbiddenError) as refused:
                    self.answers(who, task)
                assert refused.value.code in ("no_lease", "duplicate", "barred")

    def theirs(self, table, who, task):
        """How many rows of a table about a task are of a volunteer, or of somebody linked with them."""
        mine = f"SELECT count(*) FROM {table} WHERE task_id = %(t)s AND actor = ANY (actors_of(%(p)s, %(a)s))"
        return self.ledger.value(mine, t=task, p=self.project, a=who.actor)

    def has_answered(self, who, task):
        return self.theirs("task_run", who, task) > 0

    @rule(account=strategies.sampled_from(ACCOUNTS), browser=strategies.sampled_from(BROWSERS))
    def signs_in(self, account, browser):
        do(self.house[SigninFeature].same_person.link(account.user_id, browser.volunteer))

    @rule(account=strategies.sampled_from(ACCOUNTS), browser=strategies.sampled_from(BROWSERS))
    def asks_where_both_are_known(self, account, browser):
        both = attrs.evolve(account, volunteer=browser.volunteer)
        try:
            do(self.house[TasksFeature].contributions.next_tasks(both, self.project, 1, 0, candidate_scan("", False)))
        except ForbiddenError as error:
            assert error.code in ("paused", "barred")

    @rule(account=strategies.sampled_from(ACCOUNTS))
    def is_unlinked(self, account):
        self.ledger.run("SELECT unlink_all(%(a)s)", a=account.actor)

    @rule()
    def settles(self):
        for _ in range(2):
            do(self.house[SigninFeature].same_person.settle())
        assert self.ledger.rows("SELECT * FROM same_person WHERE due IS NOT NULL") == []

    @rule(who=volunteers, place=places)
    def opens_a_page(self, who, place):
        for task in self.tasks_at(place):
            try:
                do(self.house[TasksFeature].contributions.hold(who, self.project, task))
            except ForbiddenError as error:
                assert error.code in ("paused", "barred")

    def barred(self, who):
        return self.ledger.value("SELECT is_barred(%(p)s, %(a)s, %(n)s)", p=self.project, a=who.actor, n=who.network)

    @rule(who=volunteers, place=places)
    def renews(self, who, place):
        for task in self.tasks_at(place):
            try:
                do(self.house[TasksFeature].leases.renew(who, task, None, None))
            except ForbiddenError as error:
                assert error.code == "barred"

    @rule(place=places, all_of_them=strategies.booleans())
    def bars(self, place, all_of_them):
        runs = self.ledger.rows("SELECT id, user_ip FROM task_run WHERE project_id = %(p)s ORDER BY id", p=self.project)
        if runs:
            run = runs[place % len(runs)]
            body = BarBody(taskrun_id=run["id"], network=all_of_them and run["user_ip"] is not None)
            do(self.house[TasksFeature].barring.bar(self.owner, self.project, body))

    @rule(place=places)
    def lets_in_again(self, place):
        bars = do(self.house[TasksFeature].barring.listed(self.owner, self.project))
        if bars:
            do(self.house[TasksFeature].barring.unbar(self.owner, self.project, bars[place % len(bars)].id))

    @precondition(lambda self: hasattr(self, "project"))
    @rule(maximum=strategies.integers(0, 3))
    def counts_of_a_network(self, maximum):
        (row,) = self.ledger.rows("SELECT info FROM project WHERE id = %(p)s", p=self.project)
        info = {**row["info"], "counted_per_network": maximum}
        do(self.house.base.records.change(PROJECT, self.owner, self.project, {"info": info}))

    @rule()
    def sweeps(self):
        self.ledger.run("SELECT sweep_expired_leases(clock() - interval '2 hours', 100)")
        self.ledger.run("SELECT sweep_positions(clock() - interval '2 hours', 100)")

    @rule(who=volunteers, place=places, skip=strategies.booleans())
    def gives_back(self, who, place, skip):
        for task in self.tasks_at(place):
            self.ledger.release(self.project, who.actor, task, skip=skip)

    @rule(seconds=strategies.sampled_from([60, LEASE // 2, LEASE + 1]))
    def time_passes(self, seconds):
        self.ledger.pass_time(seconds)

    @rule(n=redundancies, some=strategies.lists(places, max_size=3))
    def redundancy(self, n, some):
        body = RedundancyBody(n_answers=n, task_ids=self.tasks_at(*some))
        changed = [
            do(self.house[TasksFeature].changes.redundancy(self.owner, self.project, body, dry))
            for dry in (True, False)
        ]
        assert changed[0].tasks == changed[1].tasks
        assert (changed[0].completed, changed[0].reopened) == (changed[1].completed, changed[1].reopened)

    @rule(priority=priorities, some=strategies.lists(places, max_size=3))
    def priority(self, priority, some):
        body = PriorityBody(priority_0=priority, task_ids=self.tasks_at(*some))
        do(self.house[TasksFeature].changes.priority(self.owner, self.project, body))

    @rule(n=redundancies, values=strategies.lists(priorities, min_size=1, max_size=3))
    def imports(self, n, values):
        rows = [{"project_id": self.project, "n_answers": n, "priority_0": p, "info": {}} for p in values]
        do(self.house.base.records.create(TASK, self.owner, rows))

    @rule(place=places)
    def deletes(self, place):
        for task in self.tasks_at(place):
            do(self.house.base.records.delete(TASK, self.owner, task))

    @rule(place=places, back=strategies.booleans(), reason=strategies.sampled_from(["retired", "cancelled"]))
    def retires(self, place, back, reason):
        for task in self.tasks_at(place):
            changes = self.house[TasksFeature].changes
            if back:
                do(changes.reopen(self.owner, task))
            else:
                do(changes.retire(self.owner, task, TaskRetirementBody(reason=reason)))

    @rule(who=strategies.sampled_from(WHO[:3]))
    def withdraws(self, who):
        body = WithdrawalBody(user_id=who.user_id)
        effects = [
            do(self.house[TasksFeature].changes.withdraw(self.owner, self.project, body, dry)) for dry in (True, False)
        ]
        assert effects[0].answers == effects[1].answers
        assert (effects[0].completed, effects[0].reopened) == (effects[1].completed, effects[1].reopened)

    @rule(place=places)
    def deletes_an_answer(self, place):
        runs = self.ledger.rows("SELECT id FROM task_run WHERE project_id = %(p)s ORDER BY id", p=self.project)
        if runs:
            self.ledger.delete_run(self.project, runs[place % len(runs)]["id"])

    @rule(opens=strategies.booleans())
    def pauses(self, opens):
        (self.ledger.publish if opens else self.ledger.pause)(self.project)

    @precondition(lambda self: hasattr(self, "project"))
    @rule(sched=strategies.sampled_from(schema.list_schedulers()))
    def choose(self, sched):
        (row,) = self.ledger.rows("SELECT info FROM project WHERE id = %(p)s", p=self.project)
        info = {**row["info"], "sched": sched}
        do(self.house.base.records.change(PROJECT, self.owner, self.project, {"info": info}))

    @rule(who=volunteers, place=places, what=strategies.sampled_from(["ask", "answer", "raise", "delete"]))
    def is_killed_in_the_middle(self, who, place, what):
        session = Ledger(self.dsn, autocommit=False)
        try:
            match what, self.tasks_at(place):
                case "ask", _:
                    session.ask(self.project, who.actor, limit=2, once=True, network=who.network)
                case "answer", [task]:
                    session.answer(self.project, who.actor, task, network=who.network)
                case "raise", [task]:
                    session.set_n(self.project, [task], 4)
                case "delete", [task]:
                    session.delete_tasks(self.project, [task])
            self.ledger.value("SELECT pg_terminate_backend(%(pid)s, 5000)", pid=session.pid)
            with pytest.raises(OperationalError):
                session.run("SELECT 1")
        finally:
            session.close()

    @rule()
    def folds(self):
        self.ledger.fold()

    @invariant()
    def everything_is_right(self):
        assert self.ledger.broken(1000, 3) == []

    @precondition(lambda self: hasattr(self, "copies"))
    @invariant()
    def copies_are_equal(self):
        """Each step is followed, and what it did not change does not come again."""
        row = do(self.house[ProjectsFeature].projects.page(f"project{self.owner.user_id}", SYSTEM))
        for copy in self.copies:
            copy.take(do(self.written(row, copy.kind, copy.cursor)))
            assert copy.rows == source(do(self.written(row, copy.kind, None)))
            assert copy.twice == 0

    async def written(self, row, kind, since):
        """The lines of an export."""
        parts = []
        file = self.house[ExportsFeature].exports.file(SYSTEM, row, kind, "ndjson", since=since)
        await self.house[ExportsFeature].exports.write(file, lambda part, n: parts.append(part))
        return b"".join(parts).splitlines()

    def teardown(self):
        """In the end everybody answers until nothing is left, two lease times later, and every task has what it wants."""
        if not hasattr(self, "project"):
            return
        self.ledger.publish(self.project)
        for bar in do(self.house[TasksFeature].barring.listed(self.owner, self.project)):
            do(self.house[TasksFeature].barring.unbar(self.owner, self.project, bar.id))
        self.ledger.pass_time(2 * LEASE + 2)
        for n in range(4):
            self.ledger.all_of(self.project, f"c:last{n}", limit=5)
        left = "SELECT task_id FROM task_ledger WHERE project_id = %(p)s AND NOT done AND NOT retired"
        assert self.ledger.rows(left, p=self.project) == []
        self.everything_is_right()
        self.ledger.delete_project(self.project)
        self.ledger.sweep(self.project)


@examples("few")
@pytest.mark.parametrize("number", [FEW, EXAMPLES], ids=["few", "many"])
@pytest_twisted.ensureDeferred
async def test_whatever_people_do(dsn, house, number):
    ledger = Ledger(dsn)
    machine = type("PeopleHere", (People,), {"house": house, "ledger": ledger, "dsn": dsn})
    how = settings(
        max_examples=number,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        derandomize="CROWDD_EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
    await deferToThread(run_state_machine_as_test, machine, settings=how)
    ledger.close()
