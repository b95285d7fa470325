"""Rules of owners: what they say, what they would have done, and what they did (``info.task_rules``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypedDict

from crowdd.core import log_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.projects import statements as project_statements
from crowdd.features.tasks.changes import Changes
from crowdd.features.trust import rule_statements
from crowdd.features.trust.rule_statements import RuleCount, RuleDecision, RuleVersion
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json
from crowdd.kinds.task_rules import TASK_RULES, Rule, check_rules

MAX_LISTED: Final = 500  # tasks
_NEWEST: Final = 10


class RuleEffect(TypedDict):
    """What a rule would have done: in so many ``tasks``, with ``answers`` that it would have spared or asked for."""

    name: str
    then: str
    tasks: int
    answers: int


class RuleReplay(TypedDict):
    """What rules would have done with the last ``tasks`` and their counted ``answers``."""

    tasks: int
    answers: int
    rules: list[RuleEffect]


class RulesOverview(TypedDict):
    """The rules that hold, with their version (0: there never were any), and what they did.

    ``choices`` is None where the first answer field is no label: there nobody follows rules.
    """

    version: int
    rules: list[Rule]
    versions: list[RuleVersion]
    decided: list[RuleCount]
    choices: list[Json] | None


class TaskRules:
    """For owners. Changes raise AnonymousError, ForbiddenError and NotFoundError for others.

    Of what only reads, the caller has checked that they own the project (``require``).
    """

    def __init__(self, db: Transactions, changes: Changes, notify: Callable[[int], None]) -> None:
        self._db, self._changes, self._notify = db, changes, notify

    async def require(self, who: Requester, project_id: int) -> None:
        """Raises AnonymousError, ForbiddenError or NotFoundError for those who do not run the project."""
        await self._changes.require(self._db, who, project_id)

    async def overview(self, project_id: int) -> RulesOverview:
        """The rules, and how many tasks they decided about."""
        versions = await rule_statements.list_versions(self._db, project_id)
        label = await rule_statements.find_label(self._db, project_id)
        return {
            "version": versions[0]["version"] if versions else 0,
            "rules": versions[0]["rules"] if versions else [],
            "versions": versions,
            "decided": await rule_statements.count_decisions(self._db, project_id),
            "choices": None if label is None else label["choices"],
        }

    async def newest(self, project_id: int) -> list[RuleDecision]:
        """Decisions about the newest tasks."""
        return await rule_statements.list_newest_decisions(self._db, project_id, _NEWEST)

    async def decisions(self, project_id: int, after: int) -> list[RuleDecision]:
        """All decisions about the next MAX_LISTED tasks behind ``after`` that have some."""
        return await rule_statements.list_decisions(self._db, project_id, after, MAX_LISTED)

    async def replay(self, project_id: int, rules: object) -> RuleReplay:
        """What rules would have done. Raises InvalidValueError for wrong ones."""
        checked = check_rules(rules)
        replayed = await rule_statements.replay(self._db, project_id, checked) if checked else []
        effects: list[RuleEffect] = [
            {"name": str(rule["name"]), "then": str(rule["then"]), "tasks": one["tasks"], "answers": one["answers"]}
            for rule, one in zip(checked, replayed, strict=True)
        ]
        tasks, answers = (replayed[0]["replayed"], replayed[0]["counted"]) if replayed else (0, 0)
        return {"tasks": tasks, "answers": answers, "rules": effects}

    async def save(self, who: Requester, project_id: int, rules: object) -> None:
        """Has these rules hold from now on, for open tasks at their next answer. Raises InvalidValueError."""
        checked = check_rules(rules)
        await self._change(who, project_id, lambda _before: checked)

    async def put(self, who: Requester, project_id: int, rule: Rule) -> None:
        """Adds a rule behind the others, or in place of that with its name. Raises InvalidValueError."""
        await self._change(who, project_id, lambda before: with_rule(before, rule))

    async def remove(self, who: Requester, project_id: int, name: str) -> None:
        """Removes a rule. Raises NotFoundError for an unknown one."""

        def without(before: list[Rule]) -> list[Rule]:
            rest = [rule for rule in before if rule["name"] != name]
            if len(rest) == len(before):
                raise NotFoundError(_("There is no rule with this name."))
            return rest

        await self._change(who, project_id, without)

    async def _change(self, who: Requester, project_id: int, change: Callable[[list[Rule]], list[Rule]]) -> None:
        async def work(tx: Database) -> None:
            await self._changes.require(tx, who, project_id)
            before = check_rules(await rule_statements.lock_rules(tx, project_id))
            after = check_rules(change(before))
            await project_statements.write_info_keys(tx, project_id, {TASK_RULES: after or None})
            old, new = {TASK_RULES: before}, {TASK_RULES: after}
            await log_statements.write_act(
                tx, who, "task_rules", "project", project_id, project_id=project_id, before=old, after=new
            )

        await self._db.transaction(work)
        self._notify(project_id)


def with_rule(rules: Sequence[Rule], rule: Rule) -> list[Rule]:
    """The rules with this one behind them, or in place of that with its name."""
    if any(one["name"] == rule["name"] for one in rules):
        return [rule if one["name"] == rule["name"] else one for one in rules]
    return [*rules, rule]
