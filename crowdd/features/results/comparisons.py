"""Compares the answers of completed tasks after the commit, where that takes longer than a transaction may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs
from twisted.logger import Logger

from crowdd.database.access import Database
from crowdd.features.results import alpha, outcome_statements
from crowdd.features.results.comparing_process import ComparingProcess
from crowdd.features.results.outcome_statements import DueComparison
from crowdd.kernel.values import Values

CHUNK: Final = 50  # results, whose ledger rows are locked for some 10 ms
_ANSWERS: Final = 300
_FOLDED: Final = 5000

log = Logger()


@attrs.frozen
class Comparisons:
    """Compares what is due. ``notify`` is told of the projects in which a result has changed."""

    db: Database
    notify: Callable[[int], None]
    process: ComparingProcess

    async def run(self) -> set[int]:
        """Compares all results that are due; the projects that they are of."""
        projects = set[int]()
        while due := await outcome_statements.list_due_comparisons(self.db, CHUNK, _ANSWERS):
            n = await self._compare(due)
            projects.update(one.project_id for one in due)
            if n == 0 or len(due) < CHUNK:
                break
        while await outcome_statements.fold_alpha(self.db, _FOLDED) == _FOLDED:
            pass
        for project_id in projects:
            await self._measure(project_id)
        return projects

    async def _measure(self, project_id: int) -> None:
        """Measures the expected disagreement of fields where answers have become a tenth more or fewer."""
        if not (fields := await alpha.due(self.db, project_id)):
            return
        drawn = await alpha.sample(self.db, project_id)
        measured = await self.process.expected(drawn.fields or [], drawn.tasks, project_id)
        for nth, answers in fields.items():
            expected = measured[nth - 1] if nth <= len(measured) else None
            await outcome_statements.store_expected(self.db, project_id, nth, expected, answers)

    async def _compare(self, due: list[DueComparison]) -> int:
        """Compares results and stores what they say; how many are no longer due."""
        comparable = [one for one in due if one.fields is not None]
        tasks = [{"fields": one.fields, "answers": one.answers, "first": one.first_answers} for one in comparable]
        outcomes = await self.process.compare(tasks)
        failed = [(one, str(each["error"])) for one, each in zip(comparable, outcomes, strict=True) if "error" in each]
        for one, failure in failed:
            log.warn(
                "could not compare the answers of a task: project={project} task={task} error={error}",
                project=one.project_id,
                task=one.task_id,
                error=failure,
            )
            await outcome_statements.give_up_comparison(self.db, one.stamp, failure)
        gone = [_result(one, {}) for one in due if one.fields is None]
        compared = [_result(one, each) for one, each in zip(comparable, outcomes, strict=True) if "error" not in each]
        for project_id in await outcome_statements.store_comparisons(self.db, [*gone, *compared]):
            self.notify(project_id)
        return len(failed) + len(compared) + len(gone)


def _result(one: DueComparison, outcome: Values) -> Values:
    ids = {"project_id": one.project_id, "task_id": one.task_id, "result_id": one.result_id, "stamp": one.stamp}
    return {**ids, "said": outcome.get("said"), "alpha": outcome.get("alpha")}
