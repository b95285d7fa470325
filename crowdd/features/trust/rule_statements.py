"""SQL of the rules of owners, with its rows (definitions 58)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from crowdd.database.access import Database, as_json, fetch_row_or_none, fetch_rows, one_or_none
from crowdd.kernel.values import Json
from crowdd.kinds.task_rules import Rule


class RuleVersion(TypedDict):
    """The rules of a project from a time on, until the next version."""

    version: int
    since: datetime
    rules: list[Rule]


class RuleCount(TypedDict):
    """In how many tasks a rule decided something; ``version`` is the last one by which it did."""

    rule: str
    kind: str
    version: int
    tasks: int
    last: datetime


class RuleDecision(TypedDict):
    """What a rule did with a task that had so many counted ``answers``."""

    task_id: int
    rule: str
    version: int
    kind: str
    answers: int
    at: datetime


class ReplayedRule(TypedDict):
    """What a rule would have done with ``replayed`` tasks that have ``counted`` answers: see ``replay_rules``."""

    nth: int
    tasks: int
    answers: int
    replayed: int
    counted: int


MAX_VERSIONS = 100
MAX_REPLAYED = 1000
"""So many of the tasks that were completed last are replayed."""


async def lock_rules(tx: Database, project_id: int) -> Json:
    """The rules of a project as its ``info`` has them, until the end of the transaction."""
    sql = "SELECT info->'task_rules' AS rules FROM project WHERE id = %(id)s FOR NO KEY UPDATE"
    row = await one_or_none(tx, sql, {"id": project_id})
    rules: Json = row["rules"] if row else None
    return rules


async def list_versions(db: Database, project_id: int, maximum: int = MAX_VERSIONS) -> list[RuleVersion]:
    """The newest versions that are still stored, the one that holds first; [] if there never were rules."""
    return await fetch_rows(
        db,
        RuleVersion,
        "SELECT version, since, rules FROM task_rules WHERE project_id = %(id)s ORDER BY version DESC LIMIT %(maximum)s",
        {"id": project_id, "maximum": maximum},
    )


async def count_decisions(db: Database, project_id: int) -> list[RuleCount]:
    """The decisions that stand, by rule."""
    return await fetch_rows(
        db,
        RuleCount,
        "SELECT rule, kind, max(version) AS version, count(*)::int AS tasks, max(at) AS last FROM rule_decision"
        " WHERE project_id = %(id)s GROUP BY rule, kind ORDER BY rule, kind",
        {"id": project_id},
    )


async def list_decisions(db: Database, project_id: int, after: int, maximum: int) -> list[RuleDecision]:
    """All decisions about the first tasks behind ``after`` that have some."""
    return await fetch_rows(
        db,
        RuleDecision,
        "SELECT task_id, rule, version, kind, answers, at FROM rule_decision WHERE project_id = %(id)s AND task_id IN ("
        "SELECT DISTINCT task_id FROM rule_decision WHERE project_id = %(id)s AND task_id > %(after)s"
        " ORDER BY task_id LIMIT %(maximum)s) ORDER BY task_id, rule, kind",
        {"id": project_id, "after": after, "maximum": maximum},
    )


async def list_newest_decisions(db: Database, project_id: int, maximum: int) -> list[RuleDecision]:
    """The decisions about the tasks with the highest ids that have some."""
    return await fetch_rows(
        db,
        RuleDecision,
        "SELECT task_id, rule, version, kind, answers, at FROM rule_decision WHERE project_id = %(id)s"
        " ORDER BY task_id DESC, rule, kind LIMIT %(maximum)s",
        {"id": project_id, "maximum": maximum},
    )


async def replay(
    db: Database, project_id: int, rules: Sequence[Rule], maximum: int = MAX_REPLAYED
) -> list[ReplayedRule]:
    """What rules would have done, in their order."""
    return await fetch_rows(
        db,
        ReplayedRule,
        "SELECT nth, tasks, answers, replayed, counted FROM replay_rules(%(id)s, %(rules)s, %(maximum)s) ORDER BY nth",
        {"id": project_id, "rules": as_json(list(rules)), "maximum": maximum},
    )


class RuledProject(TypedDict):
    """Whether the first answer field is a label, with its choices."""

    choices: list[Json]


async def find_label(db: Database, project_id: int) -> RuledProject | None:
    """The choices of a project; None where the first answer field is no label."""
    return await fetch_row_or_none(
        db,
        RuledProject,
        "SELECT to_jsonb(choices) AS choices FROM trust_model WHERE project_id = %(id)s",
        {"id": project_id},
    )
