"""By whatever way an answer is written, its class, its results and what was learnt from it follow: ``crowdctl check`` stays silent.

CROWDD_EXAMPLES=1000 pytest tests/ledger/test_every_write.py goes further, each time elsewhere.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

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
from psycopg2.extras import Json
from support.checks.proofs import examples
from support.first_encryption import encrypted_at_first
from support.ledger import DRAFT, Ledger
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred
from twisted.internet.threads import blockingCallFromThread, deferToThread

from crowdd.features.results import feature as result_feature
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.tasks.barring import BarBody
from crowdd.features.tasks.change_bodies import RedundancyBody, TaskRetirementBody, WithdrawalBody
from crowdd.features.tasks.feature import TasksFeature
from crowdd.features.trust.feature import TrustFeature
from crowdd.features.trust.gold import GoldChangeBody
from crowdd.kernel.errors import ForbiddenError, NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kinds.project import PROJECT
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.sched import statistics
from crowdd.sched.feature import Scheduling
from crowdd.sched.statistics import CHECKS

STEPS = 50
FEW, MANY = 3, int(os.environ.get("CROWDD_EXAMPLES", "200"))  # of STEPS writes each: 10,000 in all
HOME = "10.0.0.1"
ACCOUNTS = {
    name: Requester(user_id=n, network=HOME, unlocked=(DRAFT,)) for n, name in enumerate(("ada", "ben", "cem"), 101)
}
BROWSERS = {name: Requester(volunteer=name, network=HOME, unlocked=(DRAFT,)) for name in ("tab", "phone")}
EVERYBODY = ACCOUNTS | BROWSERS
ADMIN = Requester(user_id=100, admin=True)
LABELS: list[dict[str, Any]] = [
    {"choices": ["cat", "dog"]},
    {"choices": ["dog", "cat", "owl"]},
    {},  # any choice that appears
]
ANSWERS = ["cat", "dog", "owl", None, ["cat"]]

volunteers = strategies.sampled_from(sorted(EVERYBODY))
accounts = strategies.sampled_from(sorted(ACCOUNTS))
places = strategies.integers(0, 11)  # a task or an answer by its place among those that there are
values = strategies.sampled_from(ANSWERS)
redundancies = strategies.integers(1, 3)


def do(work: Any) -> Any:
    """The result of a coroutine of the domain, for the thread in which hypothesis plays."""
    return blockingCallFromThread(reactor, lambda: ensureDeferred(work))


class Writes(RuleBasedStateMachine):
    """A project with a label, an owner, volunteers with and without accounts; the test sets ``house`` and ``ledger``."""

    house: Any
    ledger: Ledger
    every: int  # writes between two looks

    @initialize(
        n=redundancies, label=strategies.sampled_from(LABELS), stops=strategies.booleans(), drafts=strategies.booleans()
    )
    def begin(self, n: int, label: dict[str, Any], stops: bool, drafts: bool) -> None:
        self.project = self.ledger.project(tasks=0, published=not drafts)
        owner = self.ledger.value("SELECT owner_id FROM project WHERE id = %(p)s", p=self.project)
        self.owner = Requester(user_id=owner, user_name="owner")
        key = encrypted_at_first(self.house.base.secrets, "secret")
        self.ledger.run("UPDATE project SET secret_key_encrypted = %(key)s WHERE id = %(p)s", key=key, p=self.project)
        self.declare(label, stops)
        self.ledger.add(self.project, [0.0] * 4, n)
        self.imported = 0

    def declare(self, label: dict[str, Any], stops: bool) -> None:
        fields = [
            {"name": "seen", "at": "/answer", "type": "label", **label},
            {"name": "sure", "at": "/sure", "type": "label"},
        ]
        info = {"answers": fields} | ({"trust": {"min_answers": 2, "confidence": 0.8}} if stops else {})
        do(self.house.base.records.change(PROJECT, self.owner, self.project, {"info": info}))
        do(result_feature.COMPARE_RESULTS_JOB.work(self.house))

    def task_at(self, place: int) -> int | None:
        tasks = self.ledger.tasks(self.project)
        return tasks[place % len(tasks)] if tasks else None

    def run_at(self, place: int, who: Requester | None = None) -> dict[str, Any] | None:
        """An answer, perhaps of one volunteer, by its place."""
        runs = self.ledger.rows(
            "SELECT id, task_id, user_id, actor, info, calibration FROM task_run WHERE project_id = %(p)s AND (%(a)s IS NULL OR actor = %(a)s) ORDER BY id",
            p=self.project,
            a=who.actor if who else None,
        )
        return runs[place % len(runs)] if runs else None

    def barred(self, who: Requester) -> bool:
        return bool(
            self.ledger.value("SELECT is_barred(%(p)s, %(a)s, %(n)s)", p=self.project, a=who.actor, n=who.network)
        )

    @rule(name=volunteers, place=places, value=values)
    def answers(self, name: str, place: int, value: Any) -> None:
        if task := self.task_at(place):
            who = EVERYBODY[name]
            try:
                do(self.house[TasksFeature].contributions.hold(who, self.project, task))
                body = {"project_id": self.project, "task_id": task, "info": {"answer": value}}
                do(self.house[TasksFeature].contributions.submit(who, body, None, None))
            except ForbiddenError as error:
                assert error.code in ("barred", "duplicate")

    @rule(place=places, value=values, calibration=strategies.sampled_from([None, 1]), by_admin=strategies.booleans())
    def puts(self, place: int, value: Any, calibration: int | None, by_admin: bool) -> None:
        run = self.run_at(place)
        if run and run["user_id"]:
            who = ADMIN if by_admin else Requester(user_id=run["user_id"], unlocked=(DRAFT,))
            self.rewrites(
                who,
                lambda body: self.house.base.records.change(TASK_RUN, who, run["id"], body),
                run,
                value,
                calibration,
            )

    @rule(name=volunteers, place=places, value=values)
    def corrects(self, name: str, place: int, value: Any) -> None:
        who = EVERYBODY[name]
        if run := self.run_at(place, who):
            self.rewrites(
                who,
                lambda body: self.house[TasksFeature].contributions.correct(
                    who, run["task_id"], body["info"], None, None
                ),
                run,
                value,
            )

    def rewrites(
        self, who: Requester, write: Any, run: dict[str, Any], value: Any, calibration: int | None = None
    ) -> None:
        """One rule for both ways: nobody who is barred, and no answer whose time is over."""
        try:
            written = do(write({"info": {"answer": value}, "calibration": calibration}))
        except ForbiddenError as error:
            assert error.code in ("barred", "in_result")
            written = None
        (after,) = self.ledger.rows("SELECT info, calibration FROM task_run WHERE id = %(r)s", r=run["id"])
        if who.admin or not self.barred(who):
            assert after["info"] == (run["info"] if written is None else {"answer": value})
        else:
            assert after == {"info": run["info"], "calibration": run["calibration"]}, (
                "a barred volunteer has changed an answer"
            )

    @rule(place=places, name=strategies.sampled_from(["x:one", "x:two"]), value=values)
    def imports_an_answer(self, place: int, name: str, value: Any) -> None:
        if task := self.task_at(place):
            self.imported += 1
            row = {
                "source": self.project, "task": task, "run": 10**12 + self.imported, "actor": name, "uid": name[2:],
                "info": {"answer": value}, "created": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:09Z",
                "late": None, "calibration": None, "media_url": None,
            }  # fmt: skip
            self.ledger.run(
                "SELECT import_exported_answers(%(p)s, %(rows)s, clock())", p=self.project, rows=Json([row])
            )

    @rule(name=accounts)
    def withdraws(self, name: str) -> None:
        do(
            self.house[TasksFeature].changes.withdraw(
                self.owner, self.project, WithdrawalBody(user_id=ACCOUNTS[name].user_id)
            )
        )

    @rule(name=accounts, browser=strategies.sampled_from(sorted(BROWSERS)))
    def claims(self, name: str, browser: str) -> None:
        who = ACCOUNTS[name]
        do(self.house[SigninFeature].answer_claims.claim(who.user_id, browser, who))

    @rule(place=places)
    def deletes_an_answer(self, place: int) -> None:
        run = self.run_at(place)
        if run and run["user_id"]:
            author = Requester(user_id=run["user_id"], unlocked=(DRAFT,))
            do(self.house.base.records.delete(TASK_RUN, author, run["id"]))

    @rule(place=places, aside=strategies.booleans())
    def bars(self, place: int, aside: bool) -> None:
        if run := self.run_at(place):
            body = BarBody(taskrun_id=run["id"], set_aside=aside)
            do(self.house[TasksFeature].barring.bar(self.owner, self.project, body))

    @rule(place=places, back=strategies.booleans())
    def sets_an_answer_aside(self, place: int, back: bool) -> None:
        if run := self.run_at(place):
            changes, about = self.house[TasksFeature].changes, (self.owner, self.project, run["task_id"], [run["id"]])
            do(changes.take_answers_back(*about) if back else changes.set_answers_aside(*about, "blurred"))

    @rule(place=places)
    def lets_in_again(self, place: int) -> None:
        if bars := do(self.house[TasksFeature].barring.listed(self.owner, self.project)):
            do(self.house[TasksFeature].barring.unbar(self.owner, self.project, bars[place % len(bars)].id))

    @rule(n=redundancies, place=places)
    def redundancy(self, n: int, place: int) -> None:
        if task := self.task_at(place):
            body = RedundancyBody(n_answers=n, task_ids=[task])
            do(self.house[TasksFeature].changes.redundancy(self.owner, self.project, body))

    @rule(place=places, back=strategies.booleans())
    def retires(self, place: int, back: bool) -> None:
        if task := self.task_at(place):
            changes = self.house[TasksFeature].changes
            do(changes.reopen(self.owner, task) if back else changes.retire(self.owner, task, TaskRetirementBody()))

    @rule(place=places)
    def deletes_a_task(self, place: int) -> None:
        if task := self.task_at(place):
            do(self.house.base.records.delete(TASK, self.owner, task))
            self.ledger.add(self.project, [0.0], 2)

    @rule(place=places, value=values, change=strategies.booleans())
    def makes_gold(self, place: int, value: Any, change: bool) -> None:
        if task := self.task_at(place):
            work = self.house[TrustFeature].gold.change if change else self.house[TrustFeature].gold.make
            with suppress(ForbiddenError, NotFoundError):  # it is one already, or none
                do(work(self.owner, self.project, GoldChangeBody(task_id=task, answer=value)))

    @rule(place=places)
    def ends_gold(self, place: int) -> None:
        if task := self.task_at(place):
            with suppress(NotFoundError):
                do(self.house[TrustFeature].gold.end(self.owner, self.project, task))

    @rule(label=strategies.sampled_from(LABELS), stops=strategies.booleans())
    def declares(self, label: dict[str, Any], stops: bool) -> None:
        self.declare(label, stops)

    @rule(seconds=strategies.sampled_from([60, 301, 3601]))
    def time_passes(self, seconds: int) -> None:
        self.ledger.pass_time(seconds)

    @rule()
    def folds(self) -> None:
        do(statistics.FOLD_COUNTERS_JOB.work(self.house))

    @rule()
    def publishes(self) -> None:
        self.ledger.publish(self.project)

    @precondition(lambda self: hasattr(self, "project"))
    @invariant()
    def nothing_differs(self) -> None:
        self.steps = getattr(self, "steps", 0) + 1
        if self.steps % self.every == 0:
            self.looks()

    def looks(self) -> None:
        assert self.ledger.broken(1000, 3) == []
        for check in CHECKS:
            rows = self.ledger.rows(
                f"SELECT what, key, stored, counted FROM {check.finds}(%(p)s, clock())", p=self.project
            )
            assert rows == [], check.name

    def teardown(self) -> None:
        """What one example broke is not found in the next."""
        if hasattr(self, "project"):
            try:
                self.looks()
            finally:
                self.ledger.delete_project(self.project)
                self.ledger.sweep(self.project)


@examples("few")
@pytest.mark.parametrize(
    ("number", "every"),
    [pytest.param(FEW, 1, id="few"), pytest.param(MANY, 10, id="many", marks=pytest.mark.size)],
)
@pytest_twisted.ensureDeferred
async def test_checks_stay_silent_after_writes_by_every_way(dsn: str, house: Any, number: int, every: int) -> None:
    ledger = Ledger(dsn)
    machine = type("WritesHere", (Writes,), {"house": house, "ledger": ledger, "every": every})
    how = settings(
        max_examples=number,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        derandomize="CROWDD_EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
    await deferToThread(run_state_machine_as_test, machine, settings=how)
    assert [each.sentence() async for each in house[Scheduling].checking.run()] == []
    ledger.close()
