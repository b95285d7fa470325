"""Compares the answers of completed tasks after the commit, where that takes longer than a transaction may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs
from twisted.logger import Logger

from crowdd.database.access import Database
from crowdd.features.results import alpha, outcome_statements
from crowdd.features.results.comparing_process import ComparingProcess, seconds_of_try, seconds_to_retry
from crowdd.features.results.outcome_statements import DueComparison
from crowdd.kernel.values import Values

CHUNK: Final = 50  # results, whose ledger rows are locked for some 10 ms
_ANSWERS: Final = 300
_FOLDED: Final = 5000
_RETRIED: Final = 20  # of what has failed before, in one run

log = Logger()


@attrs.frozen
class Comparisons:
    """Compares what is due. ``notify`` is told of the projects in which a result has changed."""

    db: Database
    notify: Callable[[int], None]
    process: ComparingProcess

    async def run(self) -> set[int]:
        """Compares all results that are due; the projects that they are of.

        What has failed before comes behind all others, one by one.
        """
        projects = await self._compare_due()
        for _ in range(_RETRIED):
            if not (failed := await outcome_statements.list_failed_comparisons(self.db, 1)):
                break
            await self._compare(failed)
            projects |= {one.project_id for one in failed} | await self._compare_due()
        while await outcome_statements.fold_alpha(self.db, _FOLDED) == _FOLDED:
            pass
        for due in await outcome_statements.list_alpha_due(self.db):
            await self._measure(due.project_id)
            await outcome_statements.end_measuring(self.db, due)
        return projects

    async def _compare_due(self) -> set[int]:
        projects = set[int]()
        while due := await outcome_statements.list_due_comparisons(self.db, CHUNK, _ANSWERS):
            n = await self._compare(due)
            projects.update(one.project_id for one in due)
            if n == 0 or len(due) < CHUNK:
                break
        return projects

    async def _measure(self, project_id: int) -> None:
        """Measures the expected disagreement of fields where answers have become a tenth more or fewer."""
        if not (fields := await alpha.due(self.db, project_id)):
            return
        drawn = await alpha.sample(self.db, project_id)
        seconds = seconds_of_try(max(field.tries for field in fields.values()))
        declared = [field if nth in fields else None for nth, field in enumerate(drawn.fields or [], 1)]
        measured = await self.process.expected(declared, drawn.tasks, project_id, seconds)
        for nth, field in fields.items():
            expected = measured[nth - 1] if nth <= len(measured) else None
            failure = expected if isinstance(expected, str) else None
            if failure is not None:
                log.warn(
                    "could not measure chance agreement: project={project} field={field} error={error}",
                    project=project_id,
                    field=nth,
                    error=failure,
                )
            await outcome_statements.store_expected(
                self.db,
                project_id,
                nth,
                field.answers,
                None if isinstance(expected, str) else expected,
                failure,
                seconds_to_retry(field.tries) if failure is not None else None,
            )

    async def _compare(self, due: list[DueComparison]) -> int:
        """Compares results and stores what they say; of how many something was stored."""
        comparable = [one for one in due if one.fields is not None]
        tasks = [
            {
                "fields": one.fields,
                "answers": one.answers,
                "first": one.first_answers,
                "seconds": seconds_of_try(one.tries),
            }
            for one in comparable
        ]
        outcomes = await self.process.compare(tasks)
        compared = [_result(one, {}) for one in due if one.fields is None]
        for one, outcome in zip(comparable, outcomes, strict=True):
            compared.append(_result(one, outcome))
            if failure := compared[-1]["failure"]:
                log.warn(
                    "could not compare answers: project={project} task={task} tries={tries} error={error}",
                    project=one.project_id,
                    task=one.task_id,
                    tries=one.tries + 1,
                    error=failure,
                )
        for project_id in await outcome_statements.store_comparisons(self.db, compared):
            self.notify(project_id)
        return len(compared)


def _result(one: DueComparison, outcome: Values) -> Values:
    ids = {"project_id": one.project_id, "task_id": one.task_id, "result_id": one.result_id, "stamp": one.stamp}
    failure = outcome.get("error", outcome.get("failure"))
    retry = {"failure": failure, "retry_seconds": failure and seconds_to_retry(one.tries)}
    return {**ids, **retry, "said": outcome.get("said"), "alpha": outcome.get("alpha")}
